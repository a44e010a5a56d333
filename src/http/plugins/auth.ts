import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { type Actor, systemActor } from '../../auth/actor.ts';
import { Unauthorized } from '../../core/errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor;
  }
  interface FastifyContextConfig {
    /** Served without a key. */
    open?: boolean;
  }
}

/**
 * Lets in who sends one of the keys as `X-Api-Key`; without keys everybody, which the configuration allows on
 * loopback only. Unknown addresses ask for a key too, so that nobody learns which exist.
 */
export function useAuth(server: FastifyInstance, api_keys: readonly string[]): void {
  const digests = api_keys.map(digest);
  server.decorateRequest('actor');
  server.addHook('onRequest', async (request) => {
    request.actor = systemActor(request.id);
    if (digests.length === 0 || request.method === 'OPTIONS' || request.routeOptions.config.open) return;
    const key = request.headers['x-api-key'];
    if (typeof key !== 'string') throw new Unauthorized('Missing X-Api-Key header');
    if (!isOneOf(digests, digest(key))) throw new Unauthorized('Invalid API key');
  });
}

/** Digests have one length, which the constant-time comparison needs and a key's own length would betray. */
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Compares with all of them, so that the time does not tell which one was close. */
function isOneOf(digests: readonly Buffer[], given: Buffer): boolean {
  return digests.filter((known) => timingSafeEqual(known, given)).length > 0;
}

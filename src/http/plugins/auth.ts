import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { type Actor, type Identity, systemActor } from '../../auth/actor.ts';
import type { Authenticate } from '../../auth/authenticate.ts';
import { includes, type Scope, scopeOf } from '../../auth/scopes.ts';
import { Forbidden } from '../../core/errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor;
  }
  interface FastifyContextConfig {
    /** Served to everybody; `among users`: unless keys are the only way in (CONTRACT §10). */
    open?: boolean | 'among users';
    /** What a key must be for, where there is no operation to say it. */
    scope?: Scope;
  }
}

export interface AuthOptions {
  /** Undefined lets everybody in, which the configuration allows on loopback only. */
  readonly authenticate: Authenticate | undefined;
  /** There are users, and not only keys: the user's own handlers, or an identity provider. */
  readonly has_users: boolean;
}

/**
 * Finds out who sends each request. Unknown addresses ask for a key too, so that nobody learns which exist.
 */
export function useAuth(server: FastifyInstance, { authenticate, has_users }: AuthOptions): void {
  server.decorateRequest('actor');
  server.addHook('onRequest', async (request) => {
    request.actor = systemActor(request.id);
    if (!authenticate || request.method === 'OPTIONS') return;
    if (isOpen(request.routeOptions.config, has_users)) return;
    const identity = await authenticate(callerOf(request));
    if (!request.is404) requireScope(identity, request);
    request.actor = { ...identity, request_id: request.id };
  });
}

function isOpen({ open = false }: FastifyContextConfig, has_users: boolean): boolean {
  return open === 'among users' ? has_users : open;
}

function callerOf({ method, protocol, host, url, headers }: FastifyRequest) {
  return { method, url: `${protocol}://${host}${url}`, headers };
}

function requireScope({ scope }: Identity, { routeOptions: { config, schema } }: FastifyRequest): void {
  const needed = config.scope ?? scopeOf(schema?.operationId) ?? 'admin';
  if (includes(scope, needed)) return;
  throw new Forbidden(`This needs a key for "${needed}"; yours is for "${scope}".`);
}

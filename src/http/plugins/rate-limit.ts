import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TooManyRequests } from '../../core/errors.ts';
import { clientNetwork } from '../../core/ip-ranges.ts';
import { internalRequestOf } from '../in-process.ts';
import { type AuthHook, type AuthOptions, isPublic } from './auth.ts';

/** Requests per minute; `undefined` means unlimited. */
export interface RateLimits {
  /** Per client address (IPv6: per /64 network), before authentication. */
  readonly per_address_per_minute?: number | undefined;
  /** Per user or key; per address without authentication. */
  readonly per_key_per_minute?: number | undefined;
}

const MINUTE_MS = 60_000;

/** Probes of proxies, orchestrators and monitoring must not fail because of other clients' load. */
const PROBES = /\/(ok|metrics)$/;

/** Whether the request is a health or metrics probe. */
export function isProbe({ routeOptions }: FastifyRequest): boolean {
  return PROBES.test(routeOptions.url ?? '');
}

/** Both throw `TooManyRequests`. */
export interface RateCounts {
  /** Counts a request for its authenticated caller. */
  readonly countCaller: AuthHook;
  /** Counts a command over the WebSocket that the request opened, for its address and its caller. */
  readonly countCommand: AuthHook;
}

/**
 * Rate limits: 429 with `Retry-After`. Counters are per process. The address limit applies before
 * authentication, so that it covers key guessing; the returned functions count callers and commands. Probes
 * that need a key count by address only; public ones are never counted.
 */
export async function useRateLimits(
  server: FastifyInstance,
  limits: RateLimits,
  auth: AuthOptions,
): Promise<RateCounts | undefined> {
  const { per_address_per_minute, per_key_per_minute } = limits;
  if (per_address_per_minute === undefined && per_key_per_minute === undefined) return undefined;
  // Imported lazily: most servers have no limits.
  const { default: rateLimit } = await import('@fastify/rate-limit');
  await server.register(rateLimit, { global: false });
  const limiter = (
    max: number | undefined,
    keyGenerator: (request: FastifyRequest) => string,
    isUnlimited: (request: FastifyRequest) => boolean,
  ): AuthHook => {
    if (max === undefined) return async () => {};
    const count = server.createRateLimit({ max, timeWindow: MINUTE_MS, keyGenerator });
    return async (request) => {
      if (isExempt(request) || isUnlimited(request)) return;
      const result = await count(request);
      if (!result.isAllowed && result.isExceeded)
        throw new TooManyRequests(limitMessage(request, max, result.ttlInSeconds), result.ttlInSeconds);
    };
  };
  const countAddress = limiter(
    per_address_per_minute,
    ({ ip }) => clientNetwork(ip),
    (request) => isProbe(request) && isPublic(request, auth),
  );
  const countCaller = limiter(per_key_per_minute, callerKey, isProbe);
  server.addHook('onRequest', countAddress);
  return {
    countCaller,
    async countCommand(request) {
      await countAddress(request);
      await countCaller(request);
    },
  };
}

/** A request forwarded by the custom app was already counted: by address, and by caller if authenticated then. */
function isExempt(request: FastifyRequest): boolean {
  const { raw, method, actor } = request;
  const internal = internalRequestOf(raw);
  const isCounted = internal !== undefined && (!actor || !internal.from || internal.from.actor !== undefined);
  return isCounted || method === 'OPTIONS';
}

function callerKey({ actor, ip }: FastifyRequest): string {
  // A token without a user may be in many browsers.
  const isOne = actor && (actor.user !== null || actor.key !== undefined);
  return isOne ? `caller ${actor.principal}` : `address ${clientNetwork(ip)}`;
}

/** A WebSocket client sees no response headers. */
function limitMessage({ ws }: FastifyRequest, max: number, ttl_seconds: number): string {
  const when = ws ? `${ttl_seconds} s` : 'the seconds in Retry-After';
  return `More than ${max} requests per minute. Retry after ${when}.`;
}

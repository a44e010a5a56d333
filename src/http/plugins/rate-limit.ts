import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TooManyRequests } from '../../core/errors.ts';
import { clientNetwork } from '../../core/ip-ranges.ts';
import { internalRequestOf } from '../in-process.ts';
import type { AuthHook } from './auth.ts';

/** Requests a minute; undefined is without end. */
export interface RateLimits {
  /** From one address, of IPv6 one network of 64 bits, before it is known who sends them. */
  readonly per_address_per_minute?: number | undefined;
  /** Of one user or key; of one address where nobody is told apart. */
  readonly per_key_per_minute?: number | undefined;
}

const MINUTE_MS = 60_000;

/** What proxies and orchestrators ask for must not stop when somebody else asks too much. */
const EXEMPT_ROUTES = /\/(ok|metrics)$/;

/**
 * Refuses who asks more than their share with 429 and when to come back. Each process counts for itself. `useRateLimits`
 * is before authentication, so that guessing of keys is limited; what it gives back is for what was let in.
 */
export async function useRateLimits(
  server: FastifyInstance,
  limits: RateLimits,
): Promise<AuthHook | undefined> {
  const { per_address_per_minute, per_key_per_minute } = limits;
  if (per_address_per_minute === undefined && per_key_per_minute === undefined) return undefined;
  await server.register(rateLimit, { global: false });
  const limiter = (max: number | undefined, keyGenerator: (request: FastifyRequest) => string): AuthHook => {
    if (max === undefined) return async () => {};
    const count = server.createRateLimit({ max, timeWindow: MINUTE_MS, keyGenerator });
    return async (request) => {
      if (isExempt(request)) return;
      const result = await count(request);
      if (!result.isAllowed && result.isExceeded)
        throw new TooManyRequests(limitMessage(max), result.ttlInSeconds);
    };
  };
  server.addHook(
    'onRequest',
    limiter(per_address_per_minute, ({ ip }) => clientNetwork(ip)),
  );
  return limiter(per_key_per_minute, callerKey);
}

/** What a project's own app let through was counted when it came in, and so was its caller if they were known. */
function isExempt({ raw, routeOptions, method, actor }: FastifyRequest): boolean {
  const passage = internalRequestOf(raw);
  const isCounted = passage !== undefined && (!actor || !passage.from || passage.from.actor !== undefined);
  return isCounted || method === 'OPTIONS' || EXEMPT_ROUTES.test(routeOptions.url ?? '');
}

function callerKey({ actor, ip }: FastifyRequest): string {
  const who = actor?.user?.identity ?? actor?.key;
  return who === undefined ? `address ${clientNetwork(ip)}` : `caller ${who}`;
}

function limitMessage(max: number): string {
  return `More than ${max} requests in a minute; come back after the seconds in Retry-After.`;
}

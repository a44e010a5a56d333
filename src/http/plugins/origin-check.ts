import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Forbidden } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { OriginRule } from '../origin-rule.ts';

/** Of pages that were refused, so many are told to the log. */
const MOST_TOLD = 20;

/**
 * Refuses requests of pages that may not call. CORS keeps such a page from reading an answer, but not from sending what
 * needs no preflight, and WebSockets know no CORS. Pages of the server itself may, and clients that are no browsers
 * send no origin.
 */
export function useOriginCheck(server: FastifyInstance, mayCall: OriginRule, logger: Logger): void {
  const told = new Set<string>();
  server.addHook('onRequest', async (request) => {
    const { origin } = request.headers;
    if (origin === undefined || mayCall(origin) || isOwn(origin, request)) return;
    if (told.size < MOST_TOLD && !told.has(origin)) {
      told.add(origin);
      logger.warn('request rejected: its origin is not in http.cors.allow_origins', { origin });
    }
    throw new Forbidden(`Origin ${origin} is not allowed. Add it to http.cors.allow_origins.`);
  });
}

function isOwn(origin: string, { host }: FastifyRequest): boolean {
  return URL.parse(origin)?.host === host.toLowerCase();
}

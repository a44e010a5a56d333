import type { FastifyInstance } from 'fastify';
import type { Logger } from '../../core/logger.ts';
import type { HttpMetrics } from './metrics.ts';
import { pathTemplate } from './route-table.ts';

/** Printable and of a length that a log line and a database column can take. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** The client's `x-request-id` where it is usable, else a new one. */
export function requestId(header: string | string[] | undefined, newId: () => string): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : newId();
}

/** What monitors ask for every few seconds would hide the rest of the log. */
const QUIET = new Set(['/ok', '/metrics']);

/**
 * Logs and counts every finished request. Neither headers nor queries are logged: they carry keys; the path does not.
 */
export function useRequestLog(
  server: FastifyInstance,
  { logger, metrics }: { logger: Logger; metrics: HttpMetrics },
): void {
  server.addHook('onRequest', async (request, reply) => {
    // Clients print it with an error, and it finds the line in the log.
    reply.header('x-request-id', request.id);
  });
  server.addHook(
    'onResponse',
    async ({ id, method, url, routeOptions }, { statusCode: status, elapsedTime: ms }) => {
      const path = url.split('?', 1)[0] as string;
      metrics.observe({ method, path: pathTemplate(routeOptions.url ?? 'unknown'), status, ms });
      const write = QUIET.has(path) ? logger.debug : logger.info;
      write(`${method} ${path} ${status}`, { request_id: id, ms: Math.round(ms * 10) / 10 });
    },
  );
}

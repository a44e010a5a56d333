import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../../core/logger.ts';
import { isLoopback } from '../../core/loopback.ts';
import { internalRequestOf } from '../in-process.ts';
import type { HttpMetrics } from './metrics.ts';
import { pathOf, pathTemplate } from './route-table.ts';

/** Printable and of a length that a log line and a database column can take. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** The client's `x-request-id` where it is usable, else a new one. */
export function requestId(header: string | string[] | undefined, newId: () => string): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : newId();
}

export interface RequestLogDeps {
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  /** Those that are logged (`http.logging_headers`). */
  readonly pickHeaders: (headers: IncomingHttpHeaders) => Record<string, string>;
}

/** The client was not given all of it. A WebSocket has no response, and a request from within no socket. */
function clientDisconnected({ ws, raw }: FastifyRequest, reply: FastifyReply): boolean {
  return !ws && raw.socket instanceof Socket && !reply.raw.writableFinished && !internalRequestOf(raw)?.from;
}

/** What monitors ask for every few seconds would hide the rest of the log. */
const DEBUG_ONLY_PATHS = new Set(['/ok', '/metrics']);

/**
 * Logs and counts every finished request, and where it came from unless that is this machine. Queries are not logged, and of headers only those that the configuration
 * names: they carry keys; the path does not.
 */
export function useRequestLog(
  server: FastifyInstance,
  { logger, metrics, pickHeaders }: RequestLogDeps,
): void {
  server.addHook('onRequest', async (request, reply) => {
    // Clients print it with an error, and it finds the line in the log.
    reply.header('x-request-id', request.id);
    reply.raw.once('close', () => {
      if (clientDisconnected(request, reply)) logDisconnect(request, reply);
    });
  });
  /** Fastify tells of responses that ended; of a stream that its client left, nothing. */
  function logDisconnect({ id, method, url, routeOptions }: FastifyRequest, reply: FastifyReply): void {
    const run = reply.raw.getHeader('content-location');
    metrics.disconnected(method, pathTemplate(routeOptions.url ?? 'unknown'));
    logger.info(`${method} ${pathOf(url)} client disconnected`, {
      request_id: id,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...(run === undefined ? {} : { run }),
    });
  }
  server.addHook(
    'onResponse',
    async ({ id, ip, method, url, routeOptions, raw }, { statusCode: status, elapsedTime: ms }) => {
      // The request that it is a part of is the one that came.
      if (internalRequestOf(raw)?.from) return;
      const path = pathOf(url);
      metrics.observe({ method, path: pathTemplate(routeOptions.url ?? 'unknown'), status, ms });
      const write = DEBUG_ONLY_PATHS.has(path) ? logger.debug : logger.info;
      const headers = pickHeaders(raw.headers);
      write(`${method} ${path} ${status}`, {
        request_id: id,
        ms: Math.round(ms * 10) / 10,
        ...(isLoopback(ip) ? {} : { address: ip }),
        ...(Object.keys(headers).length > 0 ? { headers } : {}),
      });
    },
  );
}

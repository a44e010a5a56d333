import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../../core/logger.ts';
import { isLoopback } from '../../core/loopback.ts';
import { internalRequestOf } from '../in-process.ts';
import type { HttpMetrics } from '../metrics/metrics.ts';
import { pathOf, pathTemplate } from './route-table.ts';

/** Printable, and short enough for a log line and a database column. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** The client's `x-request-id` if it is valid, else a new id. */
export function requestId(header: string | string[] | undefined, newId: () => string): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : newId();
}

export interface RequestLogDeps {
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  /** Picks the headers to log (`http.logging_headers`). */
  readonly pickHeaders: (headers: IncomingHttpHeaders) => Record<string, string>;
}

/** Whether the client left before the end. A WebSocket has no response, and an in-process request no socket. */
function clientDisconnected({ ws, raw }: FastifyRequest, reply: FastifyReply): boolean {
  return !ws && raw.socket instanceof Socket && !reply.raw.writableFinished && !internalRequestOf(raw)?.from;
}

/** Frequent probes would drown the rest of the log. */
const DEBUG_ONLY_PATHS = new Set(['/ok', '/metrics']);

/**
 * Access log and metrics of every finished request, with the client's address unless local. Query strings and all
 * headers except the configured ones are omitted, because they carry credentials.
 */
export function useRequestLog(
  server: FastifyInstance,
  { logger, metrics, pickHeaders }: RequestLogDeps,
): void {
  server.addHook('onRequest', async (request, reply) => {
    // Clients print the id with an error, so that it can be found in the log.
    reply.header('x-request-id', request.id);
    reply.raw.once('close', () => {
      if (clientDisconnected(request, reply)) logDisconnect(request, reply);
    });
  });
  /** Fastify reports only responses that ended, not a stream whose client disconnected. */
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
      // A forwarded request is logged as the outer one.
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

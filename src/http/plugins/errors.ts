import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServerError } from '../../core/errors.ts';
import { asError, failureText } from '../../core/failure.ts';
import type { Logger } from '../../core/logger.ts';
import { trimEnd } from '../../core/trim-end.ts';
import type { ErrorResponse } from '../../schemas/errors.ts';
import { ownAddress } from '../own-address.ts';
import type { RouteTable } from './route-table.ts';

/** Of what is named in an address. */
export const MAX_NAME_LENGTH = 1024;

/** Every failure is `{"detail": …}`; what nobody foresaw is a plain 500, logged once with the request's id. */
export function useErrors(
  server: FastifyInstance,
  { logger, routes }: { logger: Logger; routes: RouteTable },
): void {
  server.setErrorHandler((thrown: unknown, request, reply) => {
    const error = asError(thrown) as FastifyError;
    if (error instanceof ServerError) return fail(reply.headers(error.headers), error.status, error.message);
    if (error.code === 'ERR_STREAM_PREMATURE_CLOSE' && reply.raw.destroyed) {
      logger.info('client left before its answer', {
        request_id: request.id,
        path: request.routeOptions.url,
      });
      return reply.hijack();
    }
    const status = error.statusCode ?? 500;
    if (status >= 400 && status < 500) return fail(reply, status, failureText(error.message));
    logger.error('request failed', { request_id: request.id, path: request.routeOptions.url, error });
    return fail(reply, 500, 'Internal Server Error');
  });

  server.setNotFoundHandler((request, reply) => answerUnknown(request, reply, routes));
}

function fail(reply: FastifyReply, status: number, detail: string) {
  return reply.code(status).send({ detail } satisfies ErrorResponse);
}

/** 307 to the path without its slash, 405 where another method would do, else 404 (CONTRACT §1). */
function answerUnknown(request: FastifyRequest, reply: FastifyReply, routes: RouteTable) {
  const [path = '', query] = request.url.split('?', 2);
  const methods = routes.methodsOf(path);
  // One that it has means that there is no such file.
  if (methods.length > 0 && !methods.includes(request.method))
    return fail(reply.header('allow', methods.join(', ')), 405, 'Method Not Allowed');
  const bare = trimEnd(path, '/');
  if (bare !== path && bare !== '/ok' && routes.methodsOf(bare).length > 0) {
    const target = query === undefined ? bare : `${bare}?${query}`;
    return reply.redirect(`${ownAddress(request) ?? ''}${target}`, 307);
  }
  return fail(reply, 404, 'Not Found');
}

/** For an address that cannot be decoded, such as `/%zz`, or is no name of anything: no route was chosen yet. */
export function answerBadAddress({ code }: FastifyError, _request: unknown, reply: FastifyReply): void {
  const isLong = code === 'FST_ERR_MAX_PARAM_LENGTH';
  fail(
    reply,
    400,
    isLong ? `Invalid URL: a name is longer than ${MAX_NAME_LENGTH} characters` : 'Invalid URL',
  );
}

/** For bytes that are not HTTP: no request exists yet. */
export function answerMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const body = JSON.stringify({ detail: STATUS_CODES[status] } satisfies { detail: string | undefined });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServerError } from '../../core/errors.ts';
import { asError, failureText } from '../../core/failure.ts';
import type { Logger } from '../../core/logger.ts';
import { trimEnd } from '../../core/trim-end.ts';
import type { ErrorResponse } from '../../schemas/errors.ts';
import { ownAddress } from '../own-address.ts';
import { pathOf, pathTemplate, type RouteTable } from './route-table.ts';

/** Of what is named in an address. */
export const MAX_NAME_LENGTH = 1024;

export interface ErrorParts {
  readonly logger: Logger;
  readonly routes: RouteTable;
  /** The body of a 404 for an address that the configuration turns off, if it says how to turn it on. */
  off(path: string): object | undefined;
}

/** Every failure is `{"detail": …}`; what nobody foresaw is a plain 500, logged once with the request's id. */
export function useErrors(server: FastifyInstance, parts: ErrorParts): void {
  const { logger, routes } = parts;
  server.setErrorHandler((thrown: unknown, request, reply) => {
    const error = asError(thrown) as FastifyError;
    const meant = isOfName(error) ? routeMeant(request, routes) : undefined;
    if (meant) return refuseMethod(reply, meant.methods, `Method Not Allowed: use ${meant.way}`);
    if (error instanceof ServerError) return fail(reply.headers(error.headers), error.status, error.message);
    if (error.code === 'ERR_STREAM_PREMATURE_CLOSE' && reply.raw.destroyed) {
      logger.info('client disconnected before the response', {
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

  server.setNotFoundHandler((request, reply) => answerUnknown(request, reply, parts));
}

/** What a name in the address can cause: it is no id, or nothing has this name. */
function isOfName(error: FastifyError): boolean {
  return error.validationContext === 'params' || (error instanceof ServerError && error.status === 404);
}

/** `GET /threads/search` asks for the thread `search`, and means the route of this address, which has other methods. */
function routeMeant({ method, routeOptions, url }: FastifyRequest, routes: RouteTable) {
  const meant = routes.find(pathOf(url));
  if (!routeOptions.url || !meant || meant.url === routeOptions.url) return undefined;
  const { methods } = meant;
  if (methods.includes(method)) return undefined;
  const named = methods.filter((each) => each !== 'HEAD').join(' or ');
  return { methods, way: `${named} ${pathTemplate(meant.url)}` };
}

function refuseMethod(reply: FastifyReply, methods: readonly string[], detail: string) {
  return fail(reply.header('allow', methods.join(', ')), 405, detail);
}

function fail(reply: FastifyReply, status: number, detail: string) {
  return reply.code(status).send({ detail } satisfies ErrorResponse);
}

/** 307 to the path without its slash, 405 where another method would do, else 404 (CONTRACT §1). */
function answerUnknown(request: FastifyRequest, reply: FastifyReply, { routes, off }: ErrorParts) {
  const [path = '', query] = request.url.split('?', 2);
  const methods = routes.find(path)?.methods ?? [];
  // One that it has means that there is no such file.
  if (methods.length > 0 && !methods.includes(request.method))
    return refuseMethod(reply, methods, 'Method Not Allowed');
  const bare = trimEnd(path, '/');
  if (bare !== path && bare !== '/ok' && routes.find(bare)) {
    const target = query === undefined ? bare : `${bare}?${query}`;
    return reply.redirect(`${ownAddress(request) ?? ''}${target}`, 307);
  }
  const disabled = off(path);
  return disabled ? reply.code(404).send(disabled) : fail(reply, 404, 'Not Found');
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

import type { Socket } from 'node:net';
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { HostLost, ServerError } from '../../core/errors.ts';
import { failureText, toError } from '../../core/failure.ts';
import type { Logger } from '../../core/logger.ts';
import { STATUS_CODES } from '../../core/node-http.ts';
import { trimEnd } from '../../core/text.ts';
import { MAX_NAME_LENGTH } from '../../schemas/bounds.ts';
import type { ErrorResponse } from '../../schemas/fields.ts';
import { publicUrl } from '../public-url.ts';
import { pathOf, pathTemplate, type RouteTable } from './route-table.ts';

export interface ErrorHandlerDeps {
  readonly logger: Logger;
  readonly routes: RouteTable;
  /** 404 body for a route that the configuration disables, if it should say how to enable it. */
  disabledRoute(path: string): object | undefined;
}

/** Renders every failure as `{"detail": …}`; an unexpected error is a plain 500, logged once with the request id. */
export function useErrors(server: FastifyInstance, parts: ErrorHandlerDeps): void {
  const { logger, routes } = parts;
  server.setErrorHandler((thrown: unknown, request, reply) => {
    const error = toError(thrown) as FastifyError;
    const intended = isParameterError(error) ? intendedRoute(request, routes) : undefined;
    if (intended) return methodNotAllowed(reply, intended.methods, `Method Not Allowed: use ${intended.way}`);
    if (error instanceof ServerError)
      return sendError(reply.headers(error.headers), error.status, error.message);
    if (error.code === 'ERR_STREAM_PREMATURE_CLOSE' && reply.raw.destroyed) {
      logger.info('client disconnected before the response', {
        request_id: request.id,
        path: request.routeOptions.url,
      });
      return reply.hijack();
    }
    const status = error.statusCode ?? 500;
    if (status >= 400 && status < 500) return sendError(reply, status, failureText(error.message));
    logger.error('request failed', { request_id: request.id, path: request.routeOptions.url, error });
    return sendError(reply, 500, 'Internal Server Error');
  });

  server.setNotFoundHandler((request, reply) => handleNotFound(request, reply, parts));
}

/** Streams that were cut off at their other end, where the cause is logged. */
const CUT_OFF = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'LIGHT_ECONNRESET']);

/** Fastify cuts off a response whose stream fails, and reports the error only here. */
export class StreamErrorLog extends LogController {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    super();
    this.#logger = logger;
  }

  override streamError(error: FastifyError, request: FastifyRequest): void {
    if (error instanceof HostLost || CUT_OFF.has(Object(error).code)) return;
    const { id: request_id, routeOptions } = request;
    this.#logger.error('response failed after it began', { request_id, path: routeOptions.url, error });
  }
}

/** Errors that a misread path segment can cause: an invalid id, or no such resource. */
function isParameterError(error: FastifyError): boolean {
  return error.validationContext === 'params' || (error instanceof ServerError && error.status === 404);
}

/** `GET /threads/search` matches `/threads/:thread_id`, but the client means the route of that path: answer 405. */
function intendedRoute({ method, routeOptions, url }: FastifyRequest, routes: RouteTable) {
  const intended = routes.find(pathOf(url));
  if (!routeOptions.url || !intended || intended.url === routeOptions.url) return undefined;
  const { methods } = intended;
  if (methods.includes(method)) return undefined;
  const named = methods.filter((each) => each !== 'HEAD').join(' or ');
  return { methods, way: `${named} ${pathTemplate(intended.url)}` };
}

function methodNotAllowed(reply: FastifyReply, methods: readonly string[], detail: string) {
  return sendError(reply.header('allow', methods.join(', ')), 405, detail);
}

function sendError(reply: FastifyReply, status: number, detail: string) {
  return reply.code(status).send({ detail } satisfies ErrorResponse);
}

/** 307 to the path without its trailing slash, 405 if the path has other methods, else 404 (contract §1). */
function handleNotFound(
  request: FastifyRequest,
  reply: FastifyReply,
  { routes, disabledRoute }: ErrorHandlerDeps,
) {
  const [path = '', query] = request.url.split('?', 2);
  const methods = routes.find(path)?.methods ?? [];
  // If the method matches, the 404 means a missing file.
  if (methods.length > 0 && !methods.includes(request.method))
    return methodNotAllowed(reply, methods, 'Method Not Allowed');
  const bare = trimEnd(path, '/');
  if (bare !== path && bare !== '/ok' && routes.find(bare)) {
    const target = query === undefined ? bare : `${bare}?${query}`;
    return reply.redirect(`${publicUrl(request) ?? ''}${target}`, 307);
  }
  const disabled = disabledRoute(path);
  return disabled ? reply.code(404).send(disabled) : sendError(reply, 404, 'Not Found');
}

/**
 * For a URL that cannot be decoded, such as `/%zz`, or has an overlong parameter: no route has matched yet. `pageOf`
 * returns the page to redirect a GET to, if the URL is below one for people.
 */
export function invalidUrlHandler(pageOf: (url: string) => string | undefined) {
  return ({ code }: FastifyError, { method, url }: FastifyRequest, reply: FastifyReply): void => {
    const isLong = code === 'FST_ERR_MAX_PARAM_LENGTH';
    const page = isLong || method !== 'GET' ? undefined : pageOf(url);
    if (page !== undefined) return void reply.redirect(page);
    sendError(
      reply,
      400,
      isLong ? `Invalid URL: a name is longer than ${MAX_NAME_LENGTH} characters` : 'Invalid URL',
    );
  };
}

/** For bytes that are not HTTP: there is no request object yet. */
export function handleClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const body = JSON.stringify({ detail: STATUS_CODES[status] } satisfies { detail: string | undefined });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

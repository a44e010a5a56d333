import type { FastifyError, FastifyInstance } from 'fastify';
import { ServerError } from '../../core/errors.ts';
import { failureText, toError } from '../../core/failure.ts';
import type { Logger } from '../../core/logger.ts';

/** The run failed. Disables the client's automatic retry, which would run the graph again. */
export class RunFailed extends ServerError {
  readonly status = 500;
  override readonly headers = { 'x-should-retry': 'false' };
}

/** Error body of OpenAI's API. */
export function openAiError(status: number, message: string) {
  return { error: { message, type: TYPES[status] ?? typeOf(status), param: null, code: null } };
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

function typeOf(status: number): string {
  return status < 500 ? 'invalid_request_error' : 'server_error';
}

/** Renders errors of this scope, authentication included, in OpenAI's format. */
export function useOpenAiErrors(server: FastifyInstance, logger: Logger): void {
  server.setErrorHandler((thrown: unknown, request, reply) => {
    const error = toError(thrown) as FastifyError;
    if (error instanceof ServerError) {
      // OpenAI's API has 400 where this server has 422.
      const status = error.status === 422 ? 400 : error.status;
      return reply.headers(error.headers).code(status).send(openAiError(status, error.message));
    }
    const status = error.statusCode ?? 500;
    if (status >= 400 && status < 500)
      return reply.code(status).send(openAiError(status, failureText(error.message)));
    logger.error('request failed', { request_id: request.id, path: request.routeOptions.url, error });
    return reply.code(500).send(openAiError(500, 'Internal Server Error'));
  });
}

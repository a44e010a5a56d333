import type { FastifyError, FastifyInstance } from 'fastify';
import { ServerError } from '../../core/errors.ts';
import { failureText, toError } from '../../core/failure.ts';
import type { Logger } from '../../core/logger.ts';
import { openAiError } from './error-body.ts';

/** The run failed. Disables the client's automatic retry, which would run the graph again. */
export class RunFailed extends ServerError {
  readonly status = 500;
  override readonly headers = { 'x-should-retry': 'false' };
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

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { InvalidInput } from '../../core/errors.ts';
import { ProtocolCommand, ProtocolError, ProtocolSuccess } from '../../schemas/event-streaming.ts';
import { CreateHeaders } from '../../schemas/idempotency.ts';
import { ThreadPath } from '../../schemas/path-params.ts';
import { type EventStreamingService, isBadEnvelope } from '../../services/event-streaming/event-streaming.ts';
import type { IdempotencyService } from '../../services/idempotency.ts';
import { TAGS } from '../openapi/tags.ts';
import { NO_JSON, type ZodTypes } from '../plugins/contract.ts';

export function commandRoutes(
  server: FastifyInstance,
  { eventStreaming, idempotency }: { eventStreaming: EventStreamingService; idempotency: IdempotencyService },
) {
  const app = server.withTypeProvider<ZodTypes>();

  app.post(
    '/threads/:thread_id/commands',
    {
      schema: {
        operationId: 'protocol_thread_command_post',
        summary: 'Send a command',
        description:
          'Starts a run (`run.start`), answers an interrupt (`input.respond`), adds a message (`input.inject`), reads the thread (`agent.getTree`, `state.get`, `state.listCheckpoints`) or forks its state (`state.fork`). The event stream reports the outcome.',
        tags: [TAGS.streaming],
        headers: CreateHeaders,
        params: ThreadPath,
        body: ProtocolCommand,
        example: {
          id: 1,
          method: 'run.start',
          params: { assistant_id: 'echo', input: { messages: [{ role: 'user', content: 'Hello' }] } },
        },
        response: { 200: z.union([ProtocolSuccess, ProtocolError]) },
        failures: { 400: 'Invalid JSON body' },
      },
      errorHandler: answerBadJson,
    },
    async (request, reply) => {
      const { actor, params, body, once } = request;
      const answer = await eventStreaming.command(actor, params.thread_id, body, { once });
      // Whatever stood in the way may be gone when the command comes again.
      if (answer.type === 'error' && once) await idempotency.release(once);
      if (answer.type === 'error') request.once = undefined;
      if (isBadEnvelope(answer)) (reply as FastifyReply).code(400);
      return answer;
    },
  );
}

/** Here as the official server has it: text that is no JSON is a bad request, not a bad field. */
function answerBadJson(error: Error, _request: FastifyRequest, reply: FastifyReply) {
  if (!(error instanceof InvalidInput) || !error.message.startsWith(NO_JSON)) throw error;
  return reply.code(400).send({ detail: 'Invalid JSON body' });
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { InvalidInput } from '../../core/errors.ts';
import { toJson } from '../../core/json.ts';
import {
  EventStreamRequest,
  ProtocolCommand,
  ProtocolError,
  ProtocolSuccess,
} from '../../schemas/event-streaming.ts';
import { ThreadPath } from '../../schemas/request-params.ts';
import { toProtocolError } from '../../services/event-streaming/command-errors.ts';
import { type EventStreamingService, isBadEnvelope } from '../../services/event-streaming/event-streaming.ts';
import type { IdempotencyService } from '../../services/idempotency.ts';
import { TAGS } from '../openapi/tags.ts';
import { INVALID_JSON, type ZodTypeProvider } from '../plugins/validation.ts';
import type { RunReplies } from '../run-replies.ts';

export function commandRoutes(
  server: FastifyInstance,
  { eventStreaming, idempotency }: { eventStreaming: EventStreamingService; idempotency: IdempotencyService },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/threads/:thread_id/commands',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'protocol_thread_command_post',
        summary: 'Send a command',
        description:
          'Starts a run (`run.start`), answers an interrupt (`input.respond`), adds a message (`input.inject`), reads the thread (`agent.getTree`, `state.get`, `state.listCheckpoints`) or forks its state (`state.fork`). The event stream reports the outcome.',
        tags: [TAGS.streaming],
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
      errorHandler: invalidJsonAs400,
    },
    async (request, reply) => {
      const { actor, params, body, idempotencyContext } = request;
      const answer = await eventStreaming.command(actor, params.thread_id, body, {
        idempotencyContext,
      });
      // Releases the idempotency key of a failed command: a retry may succeed.
      if (answer.type === 'error' && idempotencyContext) await idempotency.release(idempotencyContext);
      if (answer.type === 'error') request.idempotencyContext = undefined;
      if (isBadEnvelope(answer)) (reply as FastifyReply).code(400);
      return answer;
    },
  );
}

/** Invalid JSON is 400 here, not 422, as in the official server. */
function invalidJsonAs400(error: Error, _request: FastifyRequest, reply: FastifyReply) {
  if (!(error instanceof InvalidInput) || !error.message.startsWith(INVALID_JSON)) throw error;
  return reply.code(400).send({ detail: 'Invalid JSON body' });
}

const EVENT_STREAM = {
  content: {
    'text/event-stream': {
      schema: z.string(),
      example:
        'event: lifecycle\ndata: {"type":"event","event_id":"1","seq":1,"method":"lifecycle","params":{"namespace":[],"timestamp":1795217902822,"data":{"event":"running","graph_name":"agent"}}}\nid: 1\n\n',
    },
  },
};

export function eventStreamRoutes(
  server: FastifyInstance,
  {
    eventStreaming,
    replies,
  }: { eventStreaming: EventStreamingService; replies: Pick<RunReplies, 'pushEvents'> },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/threads/:thread_id/stream/events',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'protocol_thread_events_post',
        summary: 'Stream events of a thread',
        description:
          'Sends events of all runs of the thread: stored ones, or those after `since`, then future ones. The stream may be opened before the thread exists, and never ends. The same path accepts a WebSocket, for commands and events.',
        tags: [TAGS.streaming],
        params: ThreadPath,
        body: EventStreamRequest,
        example: { channels: ['lifecycle', 'messages', 'values'] },
        response: { 200: EVENT_STREAM },
        failures: { 400: 'channels is required and must be a non-empty array' },
      },
    },
    async ({ actor, params, body }, reply) => {
      const request = await eventStreaming.open(actor, params.thread_id, body);
      const write: Parameters<RunReplies['pushEvents']>[1] = (sink, signal) => {
        const events = {
          ...sink,
          send: ({ seq, method, text }: { seq: number; method: string; text: string }) =>
            sink.send({ seq, event: method, data: text }),
        };
        return eventStreaming.events(request, events, signal);
      };
      await replies.pushEvents(reply, write, (error) => {
        return { seq: 0, event: 'error', data: toJson(toProtocolError(null, error)) };
      });
    },
  );
}

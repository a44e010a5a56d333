import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { EventStreamRequest } from '../../schemas/event-streaming.ts';
import { ThreadPath } from '../../schemas/path-params.ts';
import type { EventStreamingService } from '../../services/event-streaming/event-streaming.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypes } from '../plugins/contract.ts';
import type { PushEvents } from '../sse.ts';

const EVENTS = {
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
  { eventStreaming, pushEvents }: { eventStreaming: EventStreamingService; pushEvents: PushEvents },
) {
  const app = server.withTypeProvider<ZodTypes>();

  app.post(
    '/threads/:thread_id/stream/events',
    {
      schema: {
        operationId: 'protocol_thread_events_post',
        summary: 'Stream events of a thread',
        description:
          'Sends events of all runs of the thread: stored ones, or those after `since`, then future ones. The stream may be opened before the thread exists, and never ends. The same path accepts a WebSocket, for commands and events.',
        tags: [TAGS.streaming],
        params: ThreadPath,
        body: EventStreamRequest,
        example: { channels: ['lifecycle', 'messages', 'values'] },
        response: { 200: EVENTS },
        failures: { 400: 'channels is required and must be a non-empty array' },
      },
    },
    async ({ actor, params, body }, reply) => {
      const request = await eventStreaming.open(actor, params.thread_id, body);
      await pushEvents(reply, (sink, signal) => {
        const events = {
          ...sink,
          send: ({ seq, method, text }: { seq: number; method: string; text: string }) =>
            sink.send({ seq, event: method, data: text }),
        };
        return eventStreaming.events(request, events, signal);
      });
    },
  );
}

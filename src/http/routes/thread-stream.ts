import type { FastifyInstance } from 'fastify';
import { ThreadPath } from '../../schemas/request-params.ts';
import { ThreadStreamHeaders, ThreadStreamQuery } from '../../schemas/thread-stream.ts';
import type { ThreadStreamService } from '../../services/threads/thread-stream.ts';
import { EVENT_STREAM } from '../openapi/run-examples.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import type { RunReplies } from '../run-replies.ts';
import { notFoundAsErrorEvent, parseLastEventId } from '../sse.ts';

export function threadStreamRoutes(
  server: FastifyInstance,
  { threadStream, replies }: { threadStream: ThreadStreamService; replies: Pick<RunReplies, 'sendEvents'> },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/threads/:thread_id/stream',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'join_thread_stream',
        summary: 'Join thread stream',
        description:
          'Sends the events of all runs of the thread, including future ones. The stream never ends.',
        tags: [TAGS.threads],
        params: ThreadPath,
        querystring: ThreadStreamQuery,
        headers: ThreadStreamHeaders,
        response: { 200: EVENT_STREAM },
        failures: { 404: 'Thread with ID <id> not found' },
      },
      exposeHeadRoute: false,
      errorHandler: notFoundAsErrorEvent,
    },
    async ({ actor, params, query, headers }, reply) => {
      const asked = [...(query.stream_modes ?? []), ...(query.stream_mode ?? [])];
      const modes = asked.length > 0 ? asked : (['run_modes'] as const);
      const after = parseLastEventId(headers['last-event-id']?.replace(/(?<=\d)-\d{1,15}$/, ''));
      const frames = (signal: AbortSignal) =>
        threadStream.follow(actor, params.thread_id, { modes, after }, signal);
      await replies.sendEvents(reply, { headers: {}, resumable: true, frames });
    },
  );
}

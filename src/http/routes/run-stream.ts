import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { RunPath, ThreadPath } from '../../schemas/request-params.ts';
import { NewRunStreamQuery, RunCreate, RunStreamHeaders, RunStreamQuery } from '../../schemas/runs.ts';
import type { RunService } from '../../services/runs/runs.ts';
import { CREATE_FAILURES, EVENT_STREAM, STREAM_EXAMPLE } from '../openapi/run-examples.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { runHeaders, STREAM_HEADERS, streamLocation } from '../reply.ts';
import type { RunReplies } from '../run-replies.ts';
import { notFoundAsErrorEvent, parseLastEventId } from '../sse.ts';

const tags = [TAGS.runs];

/** Schema of both routes that join a stream: by thread and run, and by the run alone. */
export const JOIN_STREAM = {
  querystring: RunStreamQuery,
  headers: RunStreamHeaders,
  response: { 200: EVENT_STREAM },
  response_headers: STREAM_HEADERS,
  failures: { 404: 'Not Found' },
};

/** What a client that joins a stream asks to receive, and from where. */
export function joinOptions(
  headers: z.infer<typeof RunStreamHeaders>,
  query: z.infer<typeof RunStreamQuery>,
) {
  return {
    after: parseLastEventId(headers['last-event-id']),
    checkpoint_id: query.checkpoint_id,
    modes: query.stream_mode,
    namespaces: query.namespace,
    on_disconnect: query.cancel_on_disconnect ? ('cancel' as const) : ('continue' as const),
  };
}

export function runStreamRoutes(
  server: FastifyInstance,
  { runs, replies }: { runs: RunService; replies: RunReplies },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/threads/:thread_id/runs/stream',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'stream_run',
        summary: 'Run and stream',
        description:
          'Starts a run and streams its events as they happen. `stream_resumable` stores them, so that clients can join the stream later.',
        tags,
        params: ThreadPath,
        querystring: NewRunStreamQuery,
        body: RunCreate,
        example: STREAM_EXAMPLE,
        response: { 200: EVENT_STREAM },
        response_headers: STREAM_HEADERS,
        failures: CREATE_FAILURES,
      },
    },
    async ({ actor, params, query, body, idempotencyContext }, reply) => {
      const run = await runs.create(actor, params.thread_id, body, 'stream', idempotencyContext);
      const { on_disconnect } = body;
      const headers = runHeaders(run, streamLocation(run));
      return replies.stream(reply, { run, headers, on_disconnect, namespaces: query.namespace });
    },
  );

  app.get(
    '/threads/:thread_id/runs/:run_id/stream',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'join_run_stream',
        summary: 'Join stream',
        description: 'Sends the events of an active run: future ones, or those after `Last-Event-ID`.',
        tags,
        params: RunPath,
        ...JOIN_STREAM,
      },
      exposeHeadRoute: false,
      errorHandler: notFoundAsErrorEvent,
    },
    async ({ actor, params, query, headers }, reply) => {
      const run = await runs.get(actor, params.thread_id, params.run_id);
      await replies.joinStream(reply, {
        actor,
        run,
        headers: runHeaders(run, streamLocation(run)),
        ...joinOptions(headers, query),
      });
    },
  );
}

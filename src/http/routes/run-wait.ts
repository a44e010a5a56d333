import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { RunPath, ThreadPath } from '../../schemas/request-params.ts';
import { RunCreate, RunJoinQuery } from '../../schemas/runs.ts';
import type { RunService } from '../../services/runs/runs.ts';
import { CREATE_FAILURES, RUN_EXAMPLE } from '../openapi/run-examples.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { RECONNECT_HEADERS, runHeaders } from '../reply.ts';
import type { RunReplies } from '../run-replies.ts';

const tags = [TAGS.runs];

export function runWaitRoutes(
  server: FastifyInstance,
  { runs, replies }: { runs: RunService; replies: RunReplies },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/threads/:thread_id/runs/wait',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'wait_run',
        summary: 'Run and wait',
        description:
          'Starts a run, waits for it, and returns its final values, with `__interrupt__` or `__error__` if there is one.',
        tags,
        params: ThreadPath,
        body: RunCreate,
        example: RUN_EXAMPLE,
        response: { 200: z.unknown() },
        response_headers: RECONNECT_HEADERS,
        failures: CREATE_FAILURES,
      },
    },
    async ({ actor, params, body, idempotencyContext }, reply) => {
      const run = await runs.create(actor, params.thread_id, body, 'wait', idempotencyContext);
      return replies.wait(reply, run, runHeaders(run, 'join'), body.on_disconnect);
    },
  );

  app.get(
    '/threads/:thread_id/runs/:run_id/join',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'join_run',
        summary: 'Join run',
        description: 'Waits for an existing run and returns its result.',
        tags,
        params: RunPath,
        querystring: RunJoinQuery,
        response: { 200: z.unknown() },
        response_headers: RECONNECT_HEADERS,
        failures: { 404: 'Not Found' },
      },
      exposeHeadRoute: false,
    },
    async ({ actor, params, query }, reply) => {
      const run = await runs.get(actor, params.thread_id, params.run_id);
      const on_disconnect = query.cancel_on_disconnect ? 'cancel' : 'continue';
      return replies.join(reply, { actor, run, headers: runHeaders(run, 'join'), on_disconnect });
    },
  );
}

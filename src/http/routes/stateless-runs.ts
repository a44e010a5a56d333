import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { StatelessRunPath } from '../../schemas/request-params.ts';
import { NewRunStreamQuery, Run, RunBatchCreate, RunCreate } from '../../schemas/runs.ts';
import type { RunService } from '../../services/runs/runs.ts';
import type { StatelessRunService } from '../../services/runs/stateless-runs.ts';
import { EVENT_STREAM, RUN_EXAMPLE, STATELESS_FAILURES, STREAM_EXAMPLE } from '../openapi/run-examples.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import {
  RECONNECT_HEADERS,
  RUN_HEADERS,
  runHeaders,
  STREAM_HEADERS,
  statelessRunHeaders,
  streamLocation,
} from '../reply.ts';
import type { RunReplies } from '../run-replies.ts';
import { notFoundAsErrorEvent } from '../sse.ts';
import { JOIN_STREAM, joinOptions } from './run-stream.ts';

interface Services {
  readonly runs: RunService;
  readonly statelessRuns: StatelessRunService;
  readonly replies: RunReplies;
}

const tags = [TAGS.stateless];

export function statelessRunRoutes(server: FastifyInstance, { runs, statelessRuns, replies }: Services) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/runs',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'create_stateless_run',
        summary: 'Start background run',
        description: 'Enqueues a run on its own thread and returns immediately.',
        tags,
        body: RunCreate,
        example: { ...RUN_EXAMPLE, on_completion: 'keep' },
        response: { 200: Run },
        response_headers: RUN_HEADERS,
        failures: STATELESS_FAILURES,
      },
    },
    async ({ actor, body, idempotencyContext }, reply) => {
      const run = await statelessRuns.create(actor, body, 'background', idempotencyContext);
      reply.headers(statelessRunHeaders(run));
      return run;
    },
  );

  app.post(
    '/runs/batch',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'create_stateless_runs',
        summary: 'Start several background runs',
        description: 'Enqueues runs, each on its own thread: all of them, or none.',
        tags,
        body: RunBatchCreate,
        example: [RUN_EXAMPLE, RUN_EXAMPLE],
        response: { 200: z.array(Run) },
        failures: STATELESS_FAILURES,
      },
    },
    ({ actor, body }) => statelessRuns.createBatch(actor, body),
  );

  app.post(
    '/runs/wait',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'wait_stateless_run',
        summary: 'Run and wait',
        description:
          'Starts a run, waits for it, and returns its final values, with `__interrupt__` or `__error__` if there is one.',
        tags,
        body: RunCreate,
        example: RUN_EXAMPLE,
        response: { 200: z.unknown() },
        response_headers: RECONNECT_HEADERS,
        failures: STATELESS_FAILURES,
      },
    },
    async ({ actor, body, idempotencyContext }, reply) => {
      const run = await statelessRuns.create(actor, body, 'wait', idempotencyContext);
      // `Location` includes the thread: `/runs/{id}/join` does not exist (contract §2.4).
      return replies.wait(reply, run, runHeaders(run, 'join'), body.on_disconnect);
    },
  );

  app.post(
    '/runs/stream',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'stream_stateless_run',
        summary: 'Run and stream',
        description: 'Starts a run and sends its events as they happen.',
        tags,
        querystring: NewRunStreamQuery,
        body: RunCreate,
        example: STREAM_EXAMPLE,
        response: { 200: EVENT_STREAM },
        response_headers: STREAM_HEADERS,
        failures: STATELESS_FAILURES,
      },
    },
    async ({ actor, query, body, idempotencyContext }, reply) => {
      const run = await statelessRuns.create(actor, body, 'stream', idempotencyContext);
      const { on_disconnect } = body;
      const headers = statelessRunHeaders(run, streamLocation(run));
      return replies.stream(reply, { run, headers, on_disconnect, namespaces: query.namespace });
    },
  );

  app.get(
    '/runs/:run_id/stream',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'join_stateless_run_stream',
        summary: 'Join stream',
        description:
          'Sends the events of an active run on any thread: future ones, or those after `Last-Event-ID`.',
        tags,
        params: StatelessRunPath,
        ...JOIN_STREAM,
      },
      exposeHeadRoute: false,
      errorHandler: notFoundAsErrorEvent,
    },
    async ({ actor, params, query, headers }, reply) => {
      const run = await runs.get(actor, undefined, params.run_id);
      await replies.joinStream(reply, {
        actor,
        run,
        headers: statelessRunHeaders(run, streamLocation(run)),
        ...joinOptions(headers, query),
      });
    },
  );
}

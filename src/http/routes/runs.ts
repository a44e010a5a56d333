import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { pickFields } from '../../core/pick-fields.ts';
import { EXAMPLES, RunPath, StatelessRunPath, ThreadPath } from '../../schemas/request-params.ts';
import { RunExplanation } from '../../schemas/run-explanation.ts';
import {
  Run,
  RunCancelQuery,
  RunCreate,
  RunListQuery,
  RunsCancel,
  RunsCancelQuery,
} from '../../schemas/runs.ts';
import type { RunExplainService } from '../../services/runs/run-explain.ts';
import type { RunService } from '../../services/runs/runs.ts';
import { CREATE_FAILURES, RUN_EXAMPLE } from '../openapi/run-examples.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { RECONNECT_HEADERS, RUN_HEADERS, runHeaders } from '../reply.ts';
import type { RunReplies } from '../run-replies.ts';

const tags = [TAGS.runs];

export function runRoutes(
  server: FastifyInstance,
  { runs, replies }: { runs: RunService; replies: RunReplies },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/threads/:thread_id/runs',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'create_run',
        summary: 'Start background run',
        description: 'Enqueues a run and returns immediately. Join the run, or read the thread later.',
        tags,
        params: ThreadPath,
        body: RunCreate,
        example: RUN_EXAMPLE,
        response: { 200: Run },
        response_headers: RUN_HEADERS,
        failures: CREATE_FAILURES,
      },
    },
    async ({ actor, params, body, idempotencyContext }, reply) => {
      const run = await runs.create(actor, params.thread_id, body, 'background', idempotencyContext);
      reply.headers(runHeaders(run));
      return run;
    },
  );

  app.get(
    '/threads/:thread_id/runs',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_runs',
        summary: 'List runs',
        description: 'The runs of the thread, newest first.',
        tags,
        params: ThreadPath,
        querystring: RunListQuery,
        response: { 200: z.array(Run) },
        failures: {
          404: `Thread with ID ${EXAMPLES.thread_id} not found`,
          422: 'limit: these runs have 80000000 bytes of kwargs and metadata, but a response may have at most 67108864. Lower the limit, or select other fields.',
        },
      },
    },
    async ({ actor, params, query }) => {
      const found = await runs.list(actor, params.thread_id, query);
      return found.map((run) => pickFields(run, query.select) as Run);
    },
  );

  app.get(
    '/threads/:thread_id/runs/:run_id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_run',
        summary: 'Get run',
        description: 'The run with its status and the options it was created with.',
        tags,
        params: RunPath,
        response: { 200: Run },
        failures: { 404: 'Not Found' },
      },
    },
    ({ actor, params }) => runs.get(actor, params.thread_id, params.run_id),
  );

  app.delete(
    '/threads/:thread_id/runs/:run_id',
    {
      config: { scope: 'run' },
      schema: {
        operationId: 'delete_run',
        summary: 'Delete run',
        description: 'Deletes the run and its checkpoints, and stops it if it is active.',
        tags,
        params: RunPath,
        response: { 204: z.undefined() },
        failures: { 404: 'Run not found' },
      },
    },
    async ({ actor, params }, reply) => {
      await runs.delete(actor, params.thread_id, params.run_id);
      reply.code(204);
    },
  );

  app.post(
    '/threads/:thread_id/runs/:run_id/cancel',
    {
      config: { scope: 'run' },
      schema: {
        operationId: 'cancel_run',
        summary: 'Cancel run',
        description: 'Stops the run. Returns 202 immediately or, with `wait`, 200 once it has stopped.',
        tags,
        params: RunPath,
        querystring: RunCancelQuery,
        response: { 200: z.unknown(), 202: z.undefined() },
        response_headers: RECONNECT_HEADERS,
        failures: { 404: 'No runs found to cancel.' },
      },
    },
    async ({ actor, params, query, signal }, reply) => {
      const cancel = async (until: AbortSignal) => {
        await runs.cancel(actor, params.thread_id, params.run_id, query, until);
        return '{}';
      };
      if (query.wait) return replies.cancelled(reply, runHeaders(params, 'join'), cancel);
      await cancel(signal);
      reply.code(202);
    },
  );

  app.post(
    '/runs/cancel',
    {
      config: { scope: 'run' },
      schema: {
        operationId: 'cancel_runs',
        summary: 'Cancel runs',
        description: 'Stops all runs with a status, on every thread, or runs of one thread by id.',
        tags,
        querystring: RunsCancelQuery,
        body: RunsCancel,
        example: { status: 'pending' },
        response: { 204: z.undefined() },
        failures: { 404: 'No runs found to cancel.' },
      },
    },
    async ({ actor, query, body }, reply) => {
      await runs.cancelMany(actor, body, query.action);
      reply.code(204);
    },
  );
}

const explainResponse = { 200: RunExplanation };
const explainFailures = { 404: 'Not Found' };

export function runExplainRoutes(server: FastifyInstance, { explain }: { explain: RunExplainService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/threads/:thread_id/runs/:run_id/explain',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'explain_run',
        summary: 'Explain run',
        description:
          'Why the run is in its state: what it waits for, which worker executes it, which attempt it is.',
        tags: [TAGS.runs],
        params: RunPath,
        response: explainResponse,
        failures: explainFailures,
      },
    },
    ({ actor, params }) => explain.explain(actor, params.thread_id, params.run_id),
  );

  app.get(
    '/runs/:run_id/explain',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'explain_stateless_run',
        summary: 'Explain run',
        description: 'Why the run is in its state, found by its id alone.',
        tags: [TAGS.stateless],
        params: StatelessRunPath,
        response: explainResponse,
        failures: explainFailures,
      },
    },
    ({ actor, params }) => explain.explain(actor, undefined, params.run_id),
  );
}

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  Cron,
  CronCount,
  CronCreate,
  CronPatch,
  CronRun,
  CronRunsQuery,
  CronSearch,
  ThreadCronCreate,
} from '../../schemas/crons.ts';
import { CronPath, EXAMPLES, ThreadPath } from '../../schemas/request-params.ts';
import { Run } from '../../schemas/runs.ts';
import type { CronService } from '../../services/crons/crons.ts';
import { RUN_EXAMPLE } from '../openapi/run-examples.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { PAGE_HEADERS, paged, RUN_HEADERS, runHeaders } from '../reply.ts';

const tags = [TAGS.crons];
const CREATE_FAILURES = {
  400: 'Cannot specify both configurable and context. Prefer setting context alone.',
  422: "Invalid cron schedule: 'bad'. Reason: it needs five fields: …",
};
const EXAMPLE = {
  ...RUN_EXAMPLE,
  schedule: '0 8 * * MON-FRI',
  timezone: 'Europe/Berlin',
  metadata: { report: 'morning' },
};

export function cronRoutes(server: FastifyInstance, { crons }: { crons: CronService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/threads/:thread_id/runs/crons',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'create_thread_cron',
        summary: 'Create thread cron',
        description: 'Creates runs on a thread, on a schedule.',
        tags,
        params: ThreadPath,
        body: ThreadCronCreate,
        example: EXAMPLE,
        response: { 200: Cron },
        failures: {
          ...CREATE_FAILURES,
          404: `Thread with ID '${EXAMPLES.thread_id}' not found. Please verify that the thread exists.`,
        },
      },
    },
    ({ actor, params, body }) => crons.create(actor, params.thread_id, body),
  );

  app.post(
    '/runs/crons',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'create_cron',
        summary: 'Create cron',
        description: 'Creates runs on a schedule, each on its own thread.',
        tags,
        body: CronCreate,
        example: { ...EXAMPLE, on_run_completed: 'keep' },
        response: { 200: Cron },
        failures: { ...CREATE_FAILURES, 404: "Assistant 'x' not found" },
      },
    },
    ({ actor, body }) => crons.create(actor, null, body),
  );

  app.post(
    '/runs/crons/search',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'search_crons',
        summary: 'Search crons',
        description: 'Lists crons by assistant, thread, metadata, or whether they are enabled.',
        tags,
        body: CronSearch,
        example: { metadata: { report: 'morning' }, limit: 10, offset: 0 },
        response: { 200: z.array(Cron) },
        response_headers: PAGE_HEADERS,
      },
    },
    async ({ actor, body }, reply) => paged(reply, await crons.search(actor, body)),
  );

  app.post(
    '/runs/crons/count',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'count_crons',
        summary: 'Count crons',
        description: 'Counts crons by assistant, thread or metadata.',
        tags,
        body: CronCount,
        example: { metadata: { report: 'morning' } },
        response: { 200: z.int() },
      },
    },
    ({ actor, body }) => crons.count(actor, body),
  );

  app.get(
    '/runs/crons/:cron_id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_cron',
        summary: 'Get cron',
        description: 'The cron, its next run date and, if the server disabled it, the reason.',
        tags,
        params: CronPath,
        response: { 200: Cron },
        failures: { 404: 'Not Found' },
      },
    },
    ({ actor, params }) => crons.get(actor, params.cron_id),
  );

  app.patch(
    '/runs/crons/:cron_id',
    {
      config: { scope: 'run' },
      schema: {
        operationId: 'patch_cron',
        summary: 'Update cron',
        description: 'Changes the given fields; `metadata` is merged, `enabled` pauses or resumes the cron.',
        tags,
        params: CronPath,
        body: CronPatch,
        example: { schedule: '0 9 * * MON-FRI', enabled: true },
        response: { 200: Cron },
        failures: {
          ...CREATE_FAILURES,
          400: 'Request body cannot be empty',
          404: "Cron '…' not found",
        },
      },
    },
    ({ actor, params, body }) => crons.update(actor, params.cron_id, body),
  );

  app.delete(
    '/runs/crons/:cron_id',
    {
      config: { scope: 'run' },
      schema: {
        operationId: 'delete_cron',
        summary: 'Delete cron',
        description: 'Deletes the cron. Runs that it created are kept.',
        tags,
        params: CronPath,
        response: { 204: z.undefined() },
        failures: { 404: 'Not Found' },
      },
    },
    async ({ actor, params }, reply) => {
      await crons.delete(actor, params.cron_id);
      reply.code(204);
    },
  );
}

/** Trigger and run history of a cron: additions to the official API. */
export function cronRunRoutes(server: FastifyInstance, { crons }: { crons: CronService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/runs/crons/:cron_id/trigger',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'trigger_cron',
        summary: 'Trigger cron',
        description: 'Creates a run now, even if the cron is paused. The next run date does not change.',
        tags,
        params: CronPath,
        response: { 200: Run },
        response_headers: RUN_HEADERS,
        failures: { 404: 'Not Found', 409: 'Thread is already running a task. …' },
      },
    },
    async ({ actor, params, idempotencyContext }, reply) => {
      const run = await crons.trigger(actor, params.cron_id, idempotencyContext);
      reply.headers(runHeaders(run));
      return run;
    },
  );

  app.get(
    '/runs/crons/:cron_id/runs',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_cron_runs',
        summary: 'List runs of cron',
        description:
          'The outcome of each scheduled time, newest first: the run and how it ended, or why there was none.',
        tags,
        params: CronPath,
        querystring: CronRunsQuery,
        response: { 200: z.array(CronRun) },
        failures: { 404: 'Not Found' },
      },
    },
    ({ actor, params, query }) => crons.runs(actor, params.cron_id, query),
  );
}

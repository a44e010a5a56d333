import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { CronRun, CronRunsQuery } from '../../schemas/crons.ts';
import { CreateHeaders } from '../../schemas/idempotency.ts';
import { CronPath } from '../../schemas/path-params.ts';
import { Run } from '../../schemas/runs.ts';
import type { CronService } from '../../services/crons.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypes } from '../plugins/contract.ts';
import { RUN_HEADERS, runHeaders } from '../reply.ts';

const tags = [TAGS.crons];

/** What a cron makes, beyond the official server. */
export function cronRunRoutes(server: FastifyInstance, { crons }: { crons: CronService }) {
  const app = server.withTypeProvider<ZodTypes>();

  app.post(
    '/runs/crons/:cron_id/trigger',
    {
      schema: {
        operationId: 'trigger_cron',
        summary: 'Trigger cron',
        description: 'Creates a run now, also of a paused cron. The next run date does not change.',
        tags,
        headers: CreateHeaders,
        params: CronPath,
        response: { 200: Run },
        response_headers: RUN_HEADERS,
        failures: { 404: 'Not Found', 409: 'Thread is already running a task. …' },
      },
    },
    async ({ actor, params, once }, reply) => {
      const run = await crons.trigger(actor, params.cron_id, once);
      reply.headers(runHeaders(run));
      return run;
    },
  );

  app.get(
    '/runs/crons/:cron_id/runs',
    {
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

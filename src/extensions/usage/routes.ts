import type { FastifyInstance } from 'fastify';
import { TAGS } from '../../http/openapi/tags.ts';
import type { ZodTypeProvider } from '../../http/plugins/validation.ts';
import { ThreadPath } from '../../schemas/request-params.ts';
import {
  BudgetReport,
  RunUsageReport,
  RunUsageSearch,
  ThreadUsage,
  UsageReport,
  UsageSearch,
} from './schemas.ts';
import type { UsageService } from './service.ts';

/** Tokens and cost. */
export function usageRoutes(server: FastifyInstance, usage: UsageService): void {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/usage',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_usage',
        summary: 'Model usage',
        description:
          'Tokens and cost of model calls in runs, by assistant, user, API key, model and day. Totals are kept when runs and threads are deleted. Users see their own usage only.',
        tags: [TAGS.system],
        querystring: UsageSearch,
        response: { 200: UsageReport },
      },
    },
    ({ actor, query }) => usage.report(actor, query),
  );

  app.post(
    '/usage/runs',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'search_run_usage',
        summary: 'Usage of runs',
        description:
          'Tokens and cost of these runs. Runs that called no model, were deleted, or may not be seen by the caller are left out.',
        tags: [TAGS.system],
        body: RunUsageSearch,
        example: { run_ids: ['7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00'] },
        response: { 200: RunUsageReport },
      },
    },
    ({ actor, body }) => usage.runs(actor, body),
  );

  app.get(
    '/threads/:thread_id/usage',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_thread_usage',
        summary: 'Usage of a thread',
        description: 'Tokens and cost of the runs of a thread that still exist.',
        tags: [TAGS.threads],
        params: ThreadPath,
        response: { 200: ThreadUsage },
        failures: { 404: 'Thread not found' },
      },
    },
    ({ actor, params }) => usage.thread(actor, params.thread_id),
  );

  app.get(
    '/usage/budgets',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_budget_usage',
        summary: 'Usage of budgets',
        description:
          'The configured budgets, and what was used of them today. Users see their own budget only.',
        tags: [TAGS.system],
        response: { 200: BudgetReport },
      },
    },
    ({ actor }) => usage.budgets(actor),
  );
}

import type { FastifyInstance } from 'fastify';
import { TAGS } from '../../http/openapi/tags.ts';
import type { ZodTypeProvider } from '../../http/plugins/validation.ts';
import { UsageReport, UsageSearch } from './schemas.ts';
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
}

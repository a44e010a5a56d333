import type { FastifyInstance } from 'fastify';
import { UsageReport, UsageSearch } from '../../schemas/usage.ts';
import type { UsageService } from '../../services/usage/usage.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';

/** Tokens and cost (OBSERVABILITY D-9). */
export function usageRoutes(server: FastifyInstance, { usage }: { usage: UsageService }) {
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

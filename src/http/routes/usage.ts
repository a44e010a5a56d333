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
        summary: 'Usage of models',
        description:
          'Tokens and cost of the calls of models in runs, by assistant, user, API key, model and day. The sums are those of the steps of the runs, and stay when runs and threads are deleted. Users see what they used themselves.',
        tags: [TAGS.system],
        querystring: UsageSearch,
        response: { 200: UsageReport },
      },
    },
    ({ actor, query }) => usage.report(actor, query),
  );
}

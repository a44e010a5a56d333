import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { RunFilter, RunSearch, RunSummary } from '../../schemas/run-search.ts';
import type { RunSearchService } from '../../services/runs/run-search.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { CURSOR_HEADERS, pagedByCursor } from '../reply.ts';

const tags = [TAGS.runs];
const example = { status: ['error', 'timeout'], thread_metadata: { user: 'ada' } };

/** Runs of all threads. */
export function runSearchRoutes(server: FastifyInstance, { runSearch }: { runSearch: RunSearchService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/runs/search',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'search_runs',
        summary: 'Search runs',
        description:
          'Runs of all threads, newest first. A page may hold fewer than `limit` runs although more follow: only the last page has no `X-Pagination-Next`.',
        tags,
        body: RunSearch,
        example: { ...example, limit: 10 },
        response: { 200: z.array(RunSummary) },
        response_headers: CURSOR_HEADERS,
      },
    },
    async (request, reply) => pagedByCursor(reply, await runSearch.search(request.actor, request.body)),
  );

  app.post(
    '/runs/count',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'count_runs',
        summary: 'Count runs',
        description: 'Counts the runs of all threads.',
        tags,
        body: RunFilter,
        example,
        response: { 200: z.int() },
      },
    },
    (request) => runSearch.count(request.actor, request.body),
  );
}

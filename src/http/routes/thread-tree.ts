import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { EXAMPLES, ThreadPath } from '../../schemas/request-params.ts';
import { CheckpointNode, ThreadTreeQuery } from '../../schemas/thread-tree.ts';
import type { ThreadTreeService } from '../../services/threads/thread-tree.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { CURSOR_HEADERS, pagedByCursor } from '../reply.ts';

export function threadTreeRoutes(server: FastifyInstance, { threadTree }: { threadTree: ThreadTreeService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/threads/:thread_id/tree',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_thread_tree',
        summary: 'Get checkpoint tree',
        description:
          'The checkpoints of the thread with their parents, runs and changed channels, newest first, without values.',
        tags: [TAGS.threads],
        params: ThreadPath,
        querystring: ThreadTreeQuery,
        response: { 200: z.array(CheckpointNode) },
        response_headers: CURSOR_HEADERS,
        failures: { 404: `Thread with ID ${EXAMPLES.thread_id} not found` },
      },
    },
    async ({ actor, params, query }, reply) =>
      pagedByCursor(reply, await threadTree.list(actor, params.thread_id, query)),
  );
}

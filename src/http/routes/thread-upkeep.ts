import type { FastifyInstance } from 'fastify';
import { EXAMPLES, ThreadPath } from '../../schemas/path-params.ts';
import { ThreadPrune, ThreadStorage, ThreadsPruned } from '../../schemas/threads.ts';
import type { ThreadService } from '../../services/threads.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypes } from '../plugins/contract.ts';

const tags = [TAGS.threads];

/** What threads take, and how it is taken back. */
export function threadUpkeepRoutes(server: FastifyInstance, { threads }: { threads: ThreadService }) {
  const app = server.withTypeProvider<ZodTypes>();

  app.post(
    '/threads/prune',
    {
      schema: {
        operationId: 'prune_threads',
        summary: 'Prune threads',
        description: 'Deletes threads, or all but the newest checkpoint of each, which keeps the state.',
        tags,
        body: ThreadPrune,
        example: { thread_ids: [EXAMPLES.thread_id], strategy: 'keep_latest' },
        response: { 200: ThreadsPruned },
        failures: { 404: 'At least one thread not found or not authorized' },
      },
    },
    (request) => threads.prune(request.actor, request.body),
  );

  app.get(
    '/threads/:thread_id/storage',
    {
      schema: {
        operationId: 'get_thread_storage',
        summary: 'Get storage',
        description: 'How many checkpoints, values and writes the thread has, and how large they are.',
        tags,
        params: ThreadPath,
        response: { 200: ThreadStorage },
        failures: { 404: `Thread with ID ${EXAMPLES.thread_id} not found` },
      },
    },
    (request) => threads.storage(request.actor, request.params.thread_id),
  );
}

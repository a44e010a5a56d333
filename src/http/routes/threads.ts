import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { EXAMPLES, ThreadPath } from '../../schemas/request-params.ts';
import {
  Thread,
  ThreadCreate,
  ThreadFilter,
  ThreadGetQuery,
  ThreadPatch,
  ThreadPatchHeaders,
  ThreadPrune,
  ThreadSearch,
  ThreadStorage,
  ThreadsPruned,
} from '../../schemas/threads.ts';
import type { ThreadService } from '../../services/threads/threads.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { PAGE_HEADERS, paged } from '../reply.ts';

const tags = [TAGS.threads];
const MISSING = `Thread with ID ${EXAMPLES.thread_id} not found`;

export function threadRoutes(server: FastifyInstance, { threads }: { threads: ThreadService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/threads',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'create_thread',
        summary: 'Create thread',
        description: 'Creates a thread, optionally with your own id and history.',
        tags,
        body: ThreadCreate,
        example: { thread_id: EXAMPLES.thread_id, metadata: { user: 'ada' }, if_exists: 'do_nothing' },
        response: { 200: Thread },
        failures: {
          201: `Thread ${EXAMPLES.thread_id} was created, but there were problems updating the state: …`,
          400: 'Node x does not exist',
          409: `Thread with ID ${EXAMPLES.thread_id} already exists`,
        },
      },
    },
    (request) => threads.create(request.actor, request.body),
  );

  app.post(
    '/threads/search',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'search_threads',
        summary: 'Search threads',
        description:
          'Lists threads by metadata, values, status or ids; `extract` picks parts of large values.',
        tags,
        body: ThreadSearch,
        example: { metadata: { user: 'ada' }, limit: 10, offset: 0 },
        response: { 200: z.array(Thread) },
        response_headers: {
          ...PAGE_HEADERS,
          'X-Pagination-Next':
            'The offset of the next page, or its cursor if the request has one; absent on the last one.',
        },
      },
    },
    async (request, reply) => paged(reply, await threads.search(request.actor, request.body)),
  );

  app.post(
    '/threads/count',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'count_threads',
        summary: 'Count threads',
        description: 'Counts threads by metadata, values or status.',
        tags,
        body: ThreadFilter,
        example: { metadata: { user: 'ada' } },
        response: { 200: z.int() },
      },
    },
    (request) => threads.count(request.actor, request.body),
  );

  app.get(
    '/threads/:thread_id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_thread',
        summary: 'Get thread',
        description: 'The thread with its status and the values of its last run.',
        tags,
        params: ThreadPath,
        querystring: ThreadGetQuery,
        response: { 200: Thread },
        failures: { 404: MISSING },
      },
    },
    ({ actor, params, query }) => threads.get(actor, params.thread_id, query.include),
  );

  app.patch(
    '/threads/:thread_id',
    {
      config: { scope: 'run' },
      schema: {
        operationId: 'patch_thread',
        summary: 'Update thread',
        description: 'Merges metadata. With `Prefer: return=minimal`, returns 204 without a body.',
        tags,
        params: ThreadPath,
        headers: ThreadPatchHeaders,
        body: ThreadPatch,
        example: { metadata: { topic: 'greetings' } },
        response: { 200: Thread, 204: z.undefined() },
        failures: { 404: 'Not Found' },
      },
    },
    async ({ actor, params, body, headers }, reply) => {
      const thread = await threads.update(actor, params.thread_id, body);
      if (!headers.prefer?.includes('return=minimal')) return thread;
      reply.code(204);
    },
  );

  app.delete(
    '/threads/:thread_id',
    {
      config: { scope: 'run' },
      schema: {
        operationId: 'delete_thread',
        summary: 'Delete thread',
        description: 'Deletes the thread with its runs and its whole history, and stops active runs.',
        tags,
        params: ThreadPath,
        response: { 204: z.undefined() },
        failures: { 404: MISSING },
      },
    },
    async (request, reply) => {
      await threads.delete(request.actor, request.params.thread_id);
      reply.code(204);
    },
  );

  app.post(
    '/threads/:thread_id/copy',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'copy_thread',
        summary: 'Copy thread',
        description: 'Creates a thread with the same metadata, state and history, without the runs.',
        tags,
        params: ThreadPath,
        response: { 200: Thread },
        failures: { 409: 'Conflict' },
      },
    },
    (request) => threads.copy(request.actor, request.params.thread_id),
  );
}

/** Storage size of threads, and pruning. */
export function threadMaintenanceRoutes(server: FastifyInstance, { threads }: { threads: ThreadService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/threads/prune',
    {
      config: { scope: 'run' },
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
      config: { scope: 'read' },
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

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { CheckpointPath, EXAMPLES, ThreadPath } from '../../schemas/request-params.ts';
import {
  ThreadHistory,
  ThreadHistoryQuery,
  ThreadState,
  ThreadStateAtCheckpoint,
  ThreadStatePatch,
  ThreadStateQuery,
  ThreadStateUpdate,
  ThreadStateUpdated,
} from '../../schemas/thread-state.ts';
import type { ThreadStateService } from '../../services/threads/thread-state.ts';
import type { ThreadService } from '../../services/threads/threads.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { jsonReply } from '../reply.ts';

const tags = [TAGS.threads];
const failures = { 404: `Thread with ID ${EXAMPLES.thread_id} not found` };

export function threadStateRoutes(
  server: FastifyInstance,
  { threadState, threads }: { threadState: ThreadStateService; threads: ThreadService },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/threads/:thread_id/state',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_thread_state',
        summary: 'Get state',
        description: 'The newest state: values, next nodes, and pending interrupts.',
        tags,
        params: ThreadPath,
        querystring: ThreadStateQuery,
        response: { 200: ThreadState },
        failures,
      },
    },
    async ({ actor, params, query }, reply) =>
      jsonReply<ThreadState>(reply, await threadState.jsonAt(actor, params.thread_id, {}, query)),
  );

  app.get(
    '/threads/:thread_id/state/:checkpoint_id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_thread_state_at_checkpoint',
        summary: 'Get state at a checkpoint',
        description: 'The state at an earlier checkpoint.',
        tags,
        params: CheckpointPath,
        querystring: ThreadStateQuery,
        response: { 200: ThreadState },
        failures,
      },
    },
    async ({ actor, params: { thread_id, checkpoint_id }, query }, reply) =>
      jsonReply<ThreadState>(reply, await threadState.jsonAt(actor, thread_id, { checkpoint_id }, query)),
  );

  app.post(
    '/threads/:thread_id/state/checkpoint',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_thread_state_at_checkpoint_post',
        summary: 'Get state at a checkpoint of a subgraph',
        description: 'The state at a checkpoint that also has a namespace. `{}` is the newest one.',
        tags,
        params: ThreadPath,
        body: ThreadStateAtCheckpoint,
        example: { checkpoint: {}, subgraphs: false },
        response: { 200: ThreadState },
        failures,
      },
    },
    async ({ actor, params, body }, reply) =>
      jsonReply<ThreadState>(reply, await threadState.jsonAt(actor, params.thread_id, body.checkpoint, body)),
  );

  app.post(
    '/threads/:thread_id/state',
    {
      config: { scope: 'run', idempotent: true },
      schema: {
        operationId: 'update_thread_state',
        summary: 'Update state',
        description: 'Changes the state as if a node had returned `values`. Rejected while a run is active.',
        tags,
        params: ThreadPath,
        body: ThreadStateUpdate,
        example: { values: { messages: [{ role: 'user', content: 'Forget what I said.' }] } },
        response: { 200: ThreadStateUpdated },
        failures: {
          ...failures,
          400: 'Node x does not exist',
          409: `Thread ${EXAMPLES.thread_id} has in-flight runs`,
        },
      },
    },
    ({ actor, params, body }) => threadState.update(actor, params.thread_id, body),
  );

  app.patch(
    '/threads/:thread_id/state',
    {
      config: { scope: 'run' },
      schema: {
        operationId: 'patch_thread_state',
        summary: 'Update metadata',
        description: 'Merges metadata of the thread, as `PATCH /threads/{thread_id}` does.',
        tags,
        params: ThreadPath,
        body: ThreadStatePatch,
        example: { metadata: { topic: 'greetings' } },
        response: { 204: z.undefined() },
        failures: { 404: 'Not Found' },
      },
    },
    async ({ actor, params, body }, reply) => {
      await threads.update(actor, params.thread_id, body);
      reply.code(204);
    },
  );

  app.get(
    '/threads/:thread_id/history',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_thread_history',
        summary: 'Get history',
        description: 'Earlier states, newest first.',
        tags,
        params: ThreadPath,
        querystring: ThreadHistoryQuery,
        response: { 200: z.array(ThreadState) },
        failures,
      },
    },
    async ({ actor, params, query }, reply) =>
      jsonReply<ThreadState[]>(reply, await threadState.historyJson(actor, params.thread_id, query)),
  );

  app.post(
    '/threads/:thread_id/history',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'search_thread_history',
        summary: 'Search history',
        description:
          'Earlier states, newest first, filtered by the metadata of their checkpoints or by subgraph.',
        tags,
        params: ThreadPath,
        body: ThreadHistory,
        example: { limit: 10 },
        response: { 200: z.array(ThreadState) },
        failures,
      },
    },
    async ({ actor, params, body }, reply) =>
      jsonReply<ThreadState[]>(reply, await threadState.historyJson(actor, params.thread_id, body)),
  );
}

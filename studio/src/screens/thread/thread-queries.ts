import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { ApiError, api, dataOf, pageOf, type Schemas } from '../../api/client.ts';
import { LISTED } from '../threads/threads-query.ts';

export type CheckpointNode = Schemas['CheckpointNode'];

/** Page size of the tree. A checkpoint is about 250 bytes. */
const TREE_PAGE = 200;

/** A thread without its values, which can be megabytes. */
export const threadQuery = (thread_id: string) =>
  queryOptions({
    queryKey: ['thread', thread_id, 'thread'],
    queryFn: async () => {
      const body = { ids: [thread_id], select: [...LISTED] };
      const [thread] = await dataOf(api.POST('/threads/search', { body })).catch(noneIfRefused);
      // The server's own error explains why there is none.
      return thread ?? dataOf(api.GET('/threads/{thread_id}', { params: { path: { thread_id } } }));
    },
  });

/** The id in the address may be invalid. */
function noneIfRefused(error: unknown): [] {
  if (error instanceof ApiError && error.status === 422) return [];
  throw error;
}

/** Tokens and cost of the runs of a thread. */
export const usageQuery = (thread_id: string) =>
  queryOptions({
    queryKey: ['thread', thread_id, 'usage'],
    queryFn: () => dataOf(api.GET('/threads/{thread_id}/usage', { params: { path: { thread_id } } })),
  });

/** Checkpoints of a thread, newest first. */
export const treeQuery = (thread_id: string) =>
  infiniteQueryOptions({
    queryKey: ['thread', thread_id, 'tree'],
    queryFn: ({ pageParam }) => {
      const query = { limit: TREE_PAGE, ...(pageParam === '' ? {} : { cursor: pageParam }) };
      return pageOf(api.GET('/threads/{thread_id}/tree', { params: { path: { thread_id }, query } }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });

/** Values of some or all channels at a checkpoint. They never change. */
export const valuesQuery = (thread_id: string, checkpoint_id: string, channels: readonly string[] | null) =>
  queryOptions({
    queryKey: ['checkpoint', thread_id, checkpoint_id, channels],
    queryFn: async () => {
      const select = channels?.map((channel) => `values.${channel}`) ?? ['values'];
      const params = { path: { thread_id, checkpoint_id }, query: { select } };
      const { values } = await dataOf(api.GET('/threads/{thread_id}/state/{checkpoint_id}', { params }));
      return (values ?? {}) as Readonly<Record<string, unknown>>;
    },
    enabled: channels?.length !== 0,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** What follows a checkpoint: its tasks and their interrupts. */
export const nextQuery = (thread_id: string, checkpoint_id: string) =>
  queryOptions({
    queryKey: ['thread', thread_id, 'next', checkpoint_id],
    queryFn: () => {
      const query = { select: ['next', 'tasks'] };
      const params = { path: { thread_id, checkpoint_id }, query };
      return dataOf(api.GET('/threads/{thread_id}/state/{checkpoint_id}', { params }));
    },
  });

export const stateQuery = (thread_id: string) =>
  queryOptions({
    queryKey: ['thread', thread_id, 'state'],
    queryFn: () => dataOf(api.GET('/threads/{thread_id}/state', { params: { path: { thread_id } } })),
  });

export const storageQuery = (thread_id: string) =>
  queryOptions({
    queryKey: ['thread', thread_id, 'storage'],
    queryFn: () => dataOf(api.GET('/threads/{thread_id}/storage', { params: { path: { thread_id } } })),
  });

const RUNS_PAGE = 50;

export const threadRunsQuery = (thread_id: string) =>
  infiniteQueryOptions({
    queryKey: ['thread', thread_id, 'runs'],
    queryFn: ({ pageParam }) => {
      const body = { thread_id, limit: RUNS_PAGE, ...(pageParam && { cursor: pageParam }) };
      return pageOf(api.POST('/runs/search', { body }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });

/** LangGraph's internal channels: the input, sends, and the next nodes. */
const INTERNAL_CHANNEL = /^(__(?!root__)|branch:|start:)/;

export function isStateChannel(channel: string): boolean {
  return !INTERNAL_CHANNEL.test(channel);
}

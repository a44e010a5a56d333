import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { firstWhere, forkPoint, lineageOf } from './branches.ts';
import { messagesOf } from './messages.ts';

/** Checkpoints that one request returns; branches are found among the newest of them. */
const MAX_CHECKPOINTS = 1000;
/** Enough to find the active run: few wait behind it. */
const MAX_RUNS = 20;
const MAX_THREADS = 20;

export const stateQuery = (thread_id: string, checkpoint_id?: string) =>
  queryOptions({
    queryKey: ['thread', thread_id, 'state', checkpoint_id ?? 'newest'],
    queryFn: () =>
      checkpoint_id === undefined
        ? dataOf(api.GET('/threads/{thread_id}/state', { params: { path: { thread_id } } }))
        : dataOf(
            api.GET('/threads/{thread_id}/state/{checkpoint_id}', {
              params: { path: { thread_id, checkpoint_id } },
            }),
          ),
  });

/** A past state, which never changes: its key is not that of a row that does. */
const pastStateQuery = (thread_id: string, checkpoint_id: string) =>
  queryOptions({
    queryKey: ['past-state', thread_id, checkpoint_id],
    queryFn: stateQuery(thread_id, checkpoint_id).queryFn!,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** How many messages there are where a history forks. */
export const messageCountQuery = (thread_id: string, checkpoint_id: string) =>
  queryOptions({
    ...pastStateQuery(thread_id, checkpoint_id),
    select: ({ values }: { values: unknown }) => messagesOf(values).length,
  });

export const treeQuery = (thread_id: string) =>
  queryOptions({
    queryKey: ['thread', thread_id, 'tree', 'root'],
    queryFn: () =>
      dataOf(
        api.GET('/threads/{thread_id}/tree', {
          params: { path: { thread_id }, query: { limit: MAX_CHECKPOINTS } },
        }),
      ),
  });

export const runsOfThreadQuery = (thread_id: string) =>
  queryOptions({
    queryKey: ['thread', thread_id, 'newest runs'],
    queryFn: () =>
      dataOf(
        api.GET('/threads/{thread_id}/runs', {
          params: { path: { thread_id }, query: { limit: MAX_RUNS } },
        }),
      ),
  });

/** Threads to go on with, newest first; without their values. */
export const recentThreadsQuery = (assistant_id?: string) =>
  queryOptions({
    queryKey: ['thread', 'list', { recent: assistant_id }],
    queryFn: () =>
      dataOf(
        api.POST('/threads/search', {
          body: {
            limit: MAX_THREADS,
            select: ['thread_id', 'status', 'metadata', 'updated_at'],
            ...(assistant_id !== undefined && { metadata: { assistant_id } }),
          },
        }),
      ),
  });

/**
 * The checkpoint to continue from so that a message, and what follows it, is said anew. Throws where the history does not go
 * back so far: a run from the newest checkpoint would add to what it should replace.
 */
export async function forkPointOf(
  client: QueryClient,
  at: { thread_id: string; head_id: string; message_id: string },
): Promise<string> {
  const tree = await client.fetchQuery(treeQuery(at.thread_id));
  const lineage = lineageOf(tree, at.head_id);
  const first = await firstWhere(lineage.length, async (index) => {
    const { values } = await client.fetchQuery(
      pastStateQuery(at.thread_id, lineage[index]?.checkpoint_id ?? ''),
    );
    return messagesOf(values).some(({ id }) => id === at.message_id);
  });
  const checkpoint_id = forkPoint(lineage, first);
  if (checkpoint_id === undefined) throw new Error(NO_FORK_POINT);
  return checkpoint_id;
}

const NO_FORK_POINT =
  'This cannot be said anew: the checkpoint before it was pruned, or is more than 1,000 checkpoints back.';

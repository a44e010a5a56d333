import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { api, dataOf, pageOf, type Schemas } from '../../api/client.ts';
import { NODE_ALONE } from '../threads/threads-query.ts';
import { firstWhere, forkPoint, lineageOf } from './branches.ts';
import { type Message, messagesOf } from './messages.ts';

/** Checkpoints per request. Branches are looked for among the newest ones only. */
const MAX_CHECKPOINTS = 1000;
/** Enough to find the active run, as few runs queue behind it. */
const MAX_RUNS = 20;
const MAX_THREADS = 20;
/** Threads without a run may be newer than all conversations. */
const MAX_PAGES = 10;

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

/** A past state never changes, so its key is not that of a row that does. */
export const pastStateQuery = (thread_id: string, checkpoint_id: string) =>
  queryOptions({
    queryKey: ['past-state', thread_id, checkpoint_id],
    queryFn: stateQuery(thread_id, checkpoint_id).queryFn!,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Number of messages at the fork of a history. */
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

/** Fields of a run that a chat needs. Not its input, which can be large. */
const OF_RUN = ['run_id', 'thread_id', 'status', 'created_at'] as const satisfies (keyof Schemas['Run'])[];

export type ChatRun = Pick<Schemas['Run'], (typeof OF_RUN)[number]>;

export const runsOfThreadQuery = (thread_id: string) =>
  queryOptions({
    queryKey: ['thread', thread_id, 'newest runs'],
    queryFn: (): Promise<ChatRun[]> => {
      const query = { limit: MAX_RUNS, select: [...OF_RUN] };
      return dataOf(api.GET('/threads/{thread_id}/runs', { params: { path: { thread_id }, query } }));
    },
  });

/** Recent threads, newest first, without their values. */
export const recentThreadsQuery = (assistant_id?: string) =>
  queryOptions({
    queryKey: ['thread', 'list', { recent: assistant_id }],
    queryFn: async () => {
      const found: RecentThread[] = [];
      let cursor: string | undefined = '';
      for (let page = 0; page < MAX_PAGES && found.length < MAX_THREADS && cursor !== undefined; page++) {
        const metadata = assistant_id === undefined ? {} : { metadata: { assistant_id } };
        const select = ['thread_id' as const, 'status' as const, 'metadata' as const, 'updated_at' as const];
        const body: Schemas['ThreadSearchRequest'] = { limit: MAX_THREADS, select, cursor, ...metadata };
        const { data, next } = await pageOf(api.POST('/threads/search', { body }));
        found.push(...data.filter(isConversation));
        cursor = next;
      }
      return found.slice(0, MAX_THREADS);
    },
  });

export type RecentThread = Partial<Schemas['Thread']>;

/** True if a run has used the thread, other than one of a single node started by Studio. */
function isConversation({ metadata }: RecentThread): boolean {
  return typeof metadata?.['assistant_id'] === 'string' && metadata[NODE_ALONE] === undefined;
}

interface Said {
  readonly thread_id: string;
  /** The shown checkpoint and its messages. */
  readonly head_id: string;
  readonly messages: readonly Message[];
  /** Index of the message to rerun from. */
  readonly index: number;
}

/**
 * The checkpoint to continue from to rerun a message and all that follow. Throws if the history does not go back far enough:
 * a run from the newest checkpoint would append instead of replace. A message without an id is identified by its position,
 * so it also throws if earlier messages were changed.
 */
export async function forkPointOf(client: QueryClient, said: Said): Promise<string> {
  const { thread_id, head_id, messages, index } = said;
  const lineage = lineageOf(await client.fetchQuery(treeQuery(thread_id)), head_id);
  const messagesAt = async (checkpoint_id = '') =>
    messagesOf((await client.fetchQuery(pastStateQuery(thread_id, checkpoint_id))).values);
  const message_id = messages[index]?.id;
  const first = await firstWhere(lineage.length, async (at) => {
    const past = await messagesAt(lineage[at]?.checkpoint_id);
    return message_id ? past.some(({ id }) => id === message_id) : past.length > index;
  });
  const checkpoint_id = forkPoint(lineage, first);
  if (checkpoint_id === undefined) throw new Error(NO_FORK_POINT);
  if (message_id) return checkpoint_id;
  const [before, since] = [await messagesAt(checkpoint_id), await messagesAt(lineage[first]?.checkpoint_id)];
  const isPlace =
    isSame(before, messages.slice(0, index)) &&
    isSame(since.slice(0, index + 1), messages.slice(0, index + 1));
  if (!isPlace) throw new Error(NO_PLACE);
  return checkpoint_id;
}

function isSame(past: readonly Message[], now: readonly Message[]): boolean {
  return JSON.stringify(past) === JSON.stringify(now);
}

const NO_FORK_POINT =
  'Cannot rerun from this message: the checkpoint before it was pruned or is more than 1,000 checkpoints back.';
const NO_PLACE =
  'Cannot rerun from this message: it has no id, and earlier messages were changed or pruned, so the checkpoint before it is unknown.';

import { isEventLoopBusy } from '../../core/event-loop.ts';
import type { CheckpointAccess, CheckpointWriter } from '../../graphs/checkpointer/checkpoint-access.ts';
import { Checkpointer } from '../../graphs/checkpointer/checkpointer.ts';
import type { GraphMemory } from '../../graphs/graph.ts';
import { type GraphStoreAccess, graphStore } from '../../graphs/store/graph-store.ts';
import type { CurrentStep, RecordedStep } from '../../schemas/steps.ts';
import type { NewCheckpoint } from '../../storage/checkpoints/put.ts';
import type { StoredCheckpoint } from '../../storage/checkpoints/rows.ts';
import { fromPage } from '../protocol/checkpoints.ts';
import { type FirstSearch, searchOf } from '../protocol/first-search.ts';
import type { Params, Result, ServerMethods } from '../protocol/messages.ts';
import type { Messages } from './connection.ts';

interface RunMemory {
  readonly first?: FirstSearch | undefined;
  /** Called after each checkpoint of the root graph. */
  readonly onCheckpoint?: (checkpoint: NewCheckpoint) => Promise<void> | undefined;
}

/** Memory of a session, and the steps that no message has brought to the server yet. */
type SessionMemory = GraphMemory & {
  takeSteps(): RecordedStep[] | undefined;
  /** Steps that execute, or whose result is in no checkpoint yet. */
  currentSteps(): CurrentStep[];
};

/** Checkpointer and store of one session: both ask the server. */
export function sessionMemory(
  server: Messages,
  session: number,
  writer: Omit<CheckpointWriter, 'access'>,
  { first, onCheckpoint = () => undefined }: RunMemory = {},
): SessionMemory {
  const steps = stepBuffer();
  const remote = remoteCheckpoints(server, session, steps, first);
  const access: CheckpointAccess = {
    ...remote,
    async put(checkpoint, durability) {
      const stored = await remote.put(checkpoint, durability);
      if (checkpoint.ns === '') await onCheckpoint(checkpoint);
      return stored;
    },
  };
  const checkpointer = new Checkpointer({ ...writer, access });
  return {
    checkpointer,
    currentSteps: () => checkpointer.steps?.current() ?? [],
    store: graphStore(remoteStore(server, session)),
    takeSteps: steps.take,
  };
}

/** The server stores steps with the checkpoint or the end of the run that the same message brings. */
function stepBuffer() {
  let waiting: RecordedStep[] = [];
  return {
    add: (steps: readonly RecordedStep[]) => void waiting.push(...steps),
    take(): RecordedStep[] | undefined {
      if (waiting.length === 0) return undefined;
      const taken = waiting;
      waiting = [];
      return taken;
    },
  };
}

function remoteCheckpoints(
  server: Messages,
  session: number,
  steps: ReturnType<typeof stepBuffer>,
  first: FirstSearch | undefined,
): CheckpointAccess {
  let expected = first;
  return {
    record: steps.add,

    find(query) {
      const known = expected?.search === searchOf(query) ? expected.page : undefined;
      // Later, there may be newer checkpoints.
      expected = undefined;
      const { metadata, ...rest } = query;
      return pages(query.limit, async (from, limit) => {
        if (known && !from) return known;
        return server.request('checkpoint/find', {
          session,
          ...rest,
          ...(limit !== undefined && { limit }),
          ...(metadata && { metadata: JSON.stringify(metadata) }),
          ...(from && { before_id: from.checkpoint_id }),
        });
      });
    },

    ancestors: (query) =>
      pages(query.limit, (from, limit = query.limit) =>
        server.request('checkpoint/ancestors', {
          session,
          ...query,
          channels: [...query.channels],
          limit,
          ...(from && { checkpoint_id: from.checkpoint_id }),
        }),
      ),

    put: ({ blobs, ...checkpoint }, durability) =>
      write(server, 'checkpoint/put', {
        session,
        durability,
        steps: steps.take(),
        ...busyNow(),
        checkpoint: { ...checkpoint, blobs: [...blobs] },
      }),

    putWrites: ({ writes, ...request }, durability) =>
      write(server, 'checkpoint/put_writes', {
        session,
        durability,
        steps: steps.take(),
        ...busyNow(),
        ...request,
        writes: [...writes],
      }),

    async deleteThread(thread_id) {
      return (await server.request('checkpoint/delete_thread', { session, thread_id })).stored;
    },
  };
}

/** Part of a message: whether the event loop of this process is busy. */
export function busyNow(): { busy?: true } {
  return isEventLoopBusy() ? { busy: true } : {};
}

type Page = Result<ServerMethods, 'checkpoint/find'>;

/** Asks for page after page, each after the last checkpoint of the one before. */
async function pages(
  limit: number | undefined,
  ask: (from: StoredCheckpoint | undefined, limit: number | undefined) => Promise<Page>,
): Promise<StoredCheckpoint[]> {
  const found: StoredCheckpoint[] = [];
  for (;;) {
    const page = await ask(found.at(-1), limit === undefined ? undefined : limit - found.length);
    found.push(...fromPage(page));
    if (!page.has_more) return found;
  }
}

/** With durability `async` nothing is waited for: if the server cannot store it, it cancels the run. */
async function write<Name extends 'checkpoint/put' | 'checkpoint/put_writes'>(
  server: Messages,
  method: Name,
  params: Params<ServerMethods, Name> & { durability: string },
): Promise<boolean> {
  if (params.durability === 'sync')
    return ((await server.request(method, params)) as { stored: boolean }).stored;
  server.notify(method, params);
  return true;
}

/** The long-term store of the server. */
function remoteStore(server: Messages, session: number): GraphStoreAccess {
  return {
    async apply(changes) {
      await server.request('store/apply', { session, changes: JSON.stringify(changes) });
    },
    async get({ namespace, key }) {
      return JSON.parse((await server.request('store/get', { namespace, key })).json) ?? undefined;
    },
    async search(query) {
      return JSON.parse((await server.request('store/search', { query: JSON.stringify(query) })).json);
    },
    async namespaces(query) {
      return JSON.parse((await server.request('store/namespaces', { query: JSON.stringify(query) })).json);
    },
  };
}

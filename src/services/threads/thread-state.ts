import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { BadRequest, Conflict, NotFound, PartlyDone } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import { toJson } from '../../core/json.ts';
import { fromUtf8 } from '../../core/text.ts';
import type { EventBus } from '../../events/bus.ts';
import type { GraphConfig, HistoryQuery, StateSelection } from '../../graphs/graph.ts';
import { selectState } from '../../graphs/runtime/state-selection.ts';
import { emptyThreadState } from '../../graphs/runtime/thread-state.ts';
import type {
  CheckpointConfig,
  ThreadHistory,
  ThreadState,
  ThreadStateUpdate,
  ThreadStateUpdated,
} from '../../schemas/thread-state.ts';
import type { ThreadSuperstep } from '../../schemas/threads.ts';
import type { RunQueue } from '../../storage/queue/queue.ts';
import { threadStateBusy } from '../runs/submit.ts';
import { interruptsOf, threadStatusAfter } from '../runs/transitions.ts';
import { openThreadGraph, type ThreadGraph, type ThreadGraphDeps } from './thread-graph.ts';

export interface ThreadStateDeps extends ThreadGraphDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly bus: EventBus;
  readonly queue: RunQueue;
}

/** Event that notifies thread followers of a state update from outside a run. */
export const STATE_UPDATE = 'state_update';
/** Retention of that event: late followers read the state itself. */
const STATE_EVENT_TTL_MS = 5 * 60_000;

export interface StateOptions {
  readonly subgraphs?: boolean;
  readonly select?: StateSelection;
}

export type ThreadStateService = ReturnType<typeof threadStateService>;

/** A thread's state: latest, history, and updates from outside a run (contract §2.2). */
export function threadStateService(deps: ThreadStateDeps) {
  return {
    get(actor: Actor, thread_id: string, options: StateOptions): Promise<ThreadState> {
      return this.at(actor, thread_id, {}, options);
    },

    /** `{}` selects the latest checkpoint; without any, the state is empty. Throws `NotFound` for an unknown one. */
    async at(
      actor: Actor,
      thread_id: string,
      checkpoint: CheckpointConfig,
      { subgraphs = false, select }: StateOptions,
    ): Promise<ThreadState> {
      const opened = await openForReading(deps, actor, thread_id);
      const state = opened && (await opened.graph.state(opened.config(checkpoint), opened.memory, subgraphs));
      return selectState(state ?? emptyStateAt(checkpoint), select);
    },

    /** The same as JSON, UTF-8. */
    async jsonAt(
      actor: Actor,
      thread_id: string,
      checkpoint: CheckpointConfig,
      { subgraphs = false, select }: StateOptions,
    ): Promise<Uint8Array> {
      const opened = await openForReading(deps, actor, thread_id);
      const json = await opened?.graph.stateJson({
        config: opened.config(checkpoint),
        memory: opened.memory,
        subgraphs,
        select,
      });
      return json ?? Buffer.from(toJson(selectState(emptyStateAt(checkpoint), select)));
    },

    /**
     * Writes a checkpoint as if a node had returned `values`. Throws `Conflict` while a run is pending or running,
     * `BadRequest` if the thread has no graph or the graph rejects the values.
     */
    async update(actor: Actor, thread_id: string, input: ThreadStateUpdate): Promise<ThreadStateUpdated> {
      const visibility = await authorize(actor, 'threads:update', { thread_id, values: input.values });
      const threadGraph = await openThreadGraph(deps, thread_id, 'threads.update', visibility);
      if (!threadGraph) throw withoutGraph(thread_id);
      const { graph, memory } = threadGraph;
      const config = threadGraph.config(input.checkpoint ?? { checkpoint_id: input.checkpoint_id });
      await requireCheckpoint(threadGraph, config);
      const values = input.values ?? null;
      const update = { config, values, as_node: input.as_node ?? undefined, memory };
      const written = await graph
        .update(update)
        .catch((error: unknown) => withBlockingRuns(deps, thread_id, error));
      await refreshThread(deps, thread_id, threadGraph);
      return updateResponse(thread_id, written);
    },

    async history(actor: Actor, thread_id: string, query: ThreadHistory): Promise<ThreadState[]> {
      return JSON.parse(fromUtf8(await this.historyJson(actor, thread_id, query)));
    },

    /** JSON of the list, newest first; UTF-8. */
    async historyJson(actor: Actor, thread_id: string, query: ThreadHistory): Promise<Uint8Array> {
      const opened = await openForReading(deps, actor, thread_id);
      return opened ? opened.graph.historyJson(historyQuery(opened, query)) : Buffer.from('[]');
    },

    /** Recomputes a thread's status from its newest checkpoint after a run was deleted. */
    async refreshStatus(thread_id: string): Promise<void> {
      // No status can be derived for a deleted thread or a graph that is no longer configured.
      const threadGraph = await openThreadGraph(deps, thread_id, 'threads.read').catch(() => undefined);
      if (!threadGraph) return;
      const state = await threadGraph.graph.state(threadGraph.config({}), threadGraph.memory, false);
      const status = threadStatusAfter('success', state);
      const after = { status, interrupts: interruptsOf(state), checkpoint_id: checkpointOf(state) };
      await deps.threads.refresh(thread_id, after);
    },

    /** Stores the newest checkpoint as the thread's state: a deleted run in flight may leave its checkpoints. */
    refreshState: (thread_id: string): Promise<void> => refreshState(deps, thread_id),

    /**
     * Imports a new thread's history under the mark `import_id`, which the last transaction removes. Throws `PartlyDone`
     * if its graph is missing or not configured: the thread has no history then (contract §2.2). Throws `BadRequest` if
     * the graph rejects an update, and `Conflict` if another import took over: the thread stays marked.
     */
    async importHistory(
      thread_id: string,
      import_id: string,
      supersteps: readonly ThreadSuperstep[],
    ): Promise<void> {
      const threadGraph = await openImported(deps, thread_id, import_id);
      const { graph, memory } = threadGraph;
      const steps = supersteps.map(({ updates }) => updates);
      await graph.bulkUpdate({ config: threadGraph.config({}), supersteps: steps, memory });
      await refreshThread(deps, thread_id, threadGraph, import_id);
    },
  };
}

async function refreshState(deps: ThreadStateDeps, thread_id: string): Promise<void> {
  // No state can be read for a deleted thread or a graph that is no longer configured.
  const threadGraph = await openThreadGraph(deps, thread_id, 'threads.read').catch(() => undefined);
  if (threadGraph) await refreshThread(deps, thread_id, threadGraph);
}

async function openImported(
  deps: ThreadStateDeps,
  thread_id: string,
  import_id: string,
): Promise<ThreadGraph> {
  try {
    const opened = await openThreadGraph(deps, thread_id, 'threads.update', undefined, import_id);
    if (opened) return opened;
    throw new NotFound('it has no graph ID. Set "graph_id" in its metadata.');
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    await deps.threads.endImport(thread_id, import_id);
    throw createdWithoutState(thread_id, error.message);
  }
}

/** `undefined` if the thread has no graph. */
async function openForReading(
  deps: ThreadStateDeps,
  actor: Actor,
  thread_id: string,
): Promise<ThreadGraph | undefined> {
  const visibility = await authorize(actor, 'threads:read', { thread_id });
  return openThreadGraph(deps, thread_id, 'threads.read', visibility);
}

function historyQuery({ config, memory }: ThreadGraph, query: ThreadHistory): HistoryQuery {
  const before = checkpointBefore(query.before);
  return {
    config: config({ checkpoint_ns: query.checkpoint?.checkpoint_ns ?? '' }),
    limit: query.limit,
    before: before && config(before),
    metadata: query.metadata ?? undefined,
    select: query.select,
    memory,
  };
}

function withoutGraph(thread_id: string): BadRequest {
  return new BadRequest(`Thread ${thread_id} has no graph ID. Run it once, or set it in its metadata.`);
}

function checkpointOf(state: ThreadState | undefined): string | null {
  return state?.checkpoint?.checkpoint_id ?? null;
}

/** Names the blocking runs in the error. */
async function withBlockingRuns(
  { queue }: ThreadStateDeps,
  thread_id: string,
  error: unknown,
): Promise<never> {
  const blocking = error instanceof Conflict ? await queue.inFlightOn(thread_id) : [];
  throw blocking.length > 0 ? threadStateBusy(thread_id, blocking) : error;
}

function createdWithoutState(thread_id: string, reason: string): PartlyDone {
  return new PartlyDone(
    `Thread ${thread_id} was created, but there were problems updating the state: ${reason}`,
  );
}

/** Throws `NotFound` if a checkpoint is named. */
function emptyStateAt({ checkpoint_id }: CheckpointConfig): ThreadState {
  if (checkpoint_id) throw unknownCheckpoint(checkpoint_id);
  return emptyThreadState();
}

function unknownCheckpoint(checkpoint_id: string): NotFound {
  return new NotFound(`Checkpoint ${checkpoint_id} not found`);
}

/** LangGraph would branch from an empty state if the checkpoint does not exist. */
async function requireCheckpoint({ graph, memory }: ThreadGraph, config: GraphConfig): Promise<void> {
  const checkpoint_id = config.configurable['checkpoint_id'];
  if (typeof checkpoint_id !== 'string') return;
  if (!(await graph.state(config, memory, false))) throw unknownCheckpoint(checkpoint_id);
}

/**
 * Updates the thread's row to its newest state. Leaves the row alone if a run was enqueued since the checkpoint: that
 * run continues from it and updates the row when it ends.
 */
async function refreshThread(
  { threads, clock, ids, bus }: ThreadStateDeps,
  thread_id: string,
  threadGraph: ThreadGraph,
  import_id?: string,
): Promise<void> {
  const state = await threadGraph.graph.state(threadGraph.config({}), threadGraph.memory, false);
  const values = state?.values ?? {};
  const event = {
    event_id: ids.uuid4(),
    event: STATE_UPDATE,
    data: toJson({ state, thread_id }),
    retention_ms: STATE_EVENT_TTL_MS,
  };
  const status = threadStatusAfter('success', state);
  const checkpoint_id = checkpointOf(state);
  const after = { values, status, interrupts: interruptsOf(state), checkpoint_id, event, import_id };
  await threads.setState(thread_id, after, timestamp(clock.now()));
  bus.updated(thread_id);
  bus.emit('row.changed', 'thread', thread_id);
}

function updateResponse(thread_id: string, written: Record<string, unknown>): ThreadStateUpdated {
  const { checkpoint_ns = '', checkpoint_id, checkpoint_map } = written as CheckpointConfig;
  const checkpoint = {
    thread_id,
    checkpoint_ns,
    checkpoint_id,
    ...(checkpoint_map ? { checkpoint_map } : {}),
  };
  return { checkpoint, configurable: checkpoint, checkpoint_id: checkpoint_id as string };
}

/** Accepts an id, a checkpoint, or a config that holds one; `undefined` if there is none (contract §17). */
function checkpointBefore(before: ThreadHistory['before']): CheckpointConfig | undefined {
  if (before === null || before === undefined) return undefined;
  if (typeof before === 'string') return { checkpoint_id: before };
  const checkpoint = (before['configurable'] ?? before) as CheckpointConfig;
  return checkpoint.checkpoint_id ? checkpoint : undefined;
}

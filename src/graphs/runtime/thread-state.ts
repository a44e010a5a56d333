import { isObject } from '../../core/json.ts';
import type { ThreadState, ThreadTask } from '../../schemas/thread-state.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import { checkpointOf, namespaceConfigOf } from '../checkpoint-config.ts';
import { type UnreadableReport, withReasons } from '../checkpointer/unreadable-values.ts';
import type { GraphConfig } from '../graph.ts';
import { taskError } from '../public-errors.ts';
import type { RunnableGraph, Snapshot, SnapshotTask } from '../runnable.ts';
import { type ConvertedMessages, toWire } from '../wire.ts';
import { savedCheckpoint } from './saved-checkpoint.ts';

/** State of a thread that never ran (contract §2.2). */
export function emptyThreadState(): ThreadState {
  return {
    values: {},
    next: [],
    tasks: [],
    metadata: null,
    created_at: null,
    checkpoint: null,
    parent_checkpoint: null,
    interrupts: [],
    checkpoint_id: null,
    parent_checkpoint_id: null,
  };
}

/**
 * Converts LangGraph's snapshot to the contract's terms; states of subgraphs are nested if the snapshot holds them.
 * `resolved`: tasks without pending interrupts, though the snapshot may still list them; `unreadable`: values that the
 * snapshot lacks; `converted`: for states that share messages.
 */
export function threadState(
  snapshot: Snapshot,
  resolved: ReadonlySet<string>,
  unreadable?: UnreadableReport,
  converted?: ConvertedMessages,
): ThreadState {
  if (snapshot.createdAt === undefined) return emptyThreadState();
  const checkpoint = checkpointOf(snapshot.config);
  const parent = checkpointOf(snapshot.parentConfig);
  const tasks = snapshot.tasks.map((task) => threadTask(task, resolved, unreadable));
  const reasons = unreadable?.of(checkpoint);
  return {
    values: toWire(withReasons(snapshot.values, reasons), converted),
    next: [...snapshot.next],
    tasks,
    metadata: isObject(snapshot.metadata) ? (toWire(snapshot.metadata) as Record<string, unknown>) : null,
    created_at: snapshot.createdAt,
    checkpoint,
    parent_checkpoint: parent,
    interrupts: tasks.flatMap((task) => task.interrupts),
    checkpoint_id: checkpoint?.checkpoint_id ?? null,
    parent_checkpoint_id: parent?.checkpoint_id ?? null,
  };
}

function threadTask(
  task: SnapshotTask,
  resolved: ReadonlySet<string>,
  unreadable: UnreadableReport | undefined,
): ThreadTask {
  const { state } = task;
  const nested = state !== undefined && 'values' in state ? state : undefined;
  const interrupts = resolved.has(task.id) ? [] : (task.interrupts ?? []);
  return {
    id: task.id,
    name: task.name,
    path: [...(task.path ?? [])],
    error: taskError(task.error),
    interrupts: interrupts.map((interrupt) => toWire(interrupt) as Interrupt),
    checkpoint: nested ? null : namespaceConfigOf(state),
    state: nested ? threadState(nested, resolved, unreadable) : null,
    result: toWire(task.result) ?? null,
  };
}

/**
 * LangGraph's snapshot. Before a step ends, the newest one includes its tasks' pending writes, unless a reducer rejects
 * them, as it did in the run: then it is the state of the checkpoint.
 */
export async function readSnapshot(
  reader: RunnableGraph,
  checkpointer: unknown,
  config: GraphConfig,
  subgraphs: boolean,
): Promise<Snapshot> {
  try {
    return await reader.getState(config, { subgraphs });
  } catch (error) {
    const { configurable } = config;
    const saved =
      configurable.checkpoint_id === undefined && (await savedCheckpoint(checkpointer, configurable));
    if (!saved) throw error;
    const checkpoint_id = saved.checkpoint.id;
    return reader.getState({ ...config, configurable: { ...configurable, checkpoint_id } }, { subgraphs });
  }
}

import { isObject } from '../../core/json.ts';
import type { ThreadState, ThreadTask } from '../../schemas/thread-state.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import { checkpointOf, namespaceConfigOf } from '../checkpoint-config.ts';
import { type UnreadableReport, withReasons } from '../checkpointer/unreadable-values.ts';
import type { GraphConfig } from '../graph.ts';
import { taskError } from '../public-errors.ts';
import type { RunnableGraph, Snapshot, SnapshotTask } from '../runnable.ts';
import { toWire } from '../wire.ts';

/** The state of a thread on which nothing ran yet (CONTRACT §2.2). */
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
 * LangGraph's snapshot in the contract's words; states of subgraphs are nested where the snapshot holds them.
 * `answered` are tasks that ask no more, though the snapshot may still list what they asked; `unreadable` is what the
 * snapshot had to be made without.
 */
export function threadState(
  snapshot: Snapshot,
  resolved: ReadonlySet<string>,
  unreadable?: UnreadableReport,
): ThreadState {
  if (snapshot.createdAt === undefined) return emptyThreadState();
  const checkpoint = checkpointOf(snapshot.config);
  const parent = checkpointOf(snapshot.parentConfig);
  const tasks = snapshot.tasks.map((task) => threadTask(task, resolved, unreadable));
  const reasons = unreadable?.of(checkpoint);
  return {
    values: toWire(withReasons(snapshot.values, reasons)),
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

/** What is needed of LangGraph's checkpointers. */
interface Saver {
  getTuple(config: object): Promise<{ checkpoint: { id: string } } | undefined>;
}

/**
 * The state as LangGraph has it. What tasks wrote is part of the newest one before their step ends, unless a reducer
 * refuses it, as it did in the run: then the state is that of the checkpoint.
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
      configurable.checkpoint_id === undefined && (await (checkpointer as Saver).getTuple(config));
    if (!saved) throw error;
    const checkpoint_id = saved.checkpoint.id;
    return reader.getState({ ...config, configurable: { ...configurable, checkpoint_id } }, { subgraphs });
  }
}

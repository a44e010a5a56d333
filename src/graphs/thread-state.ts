import { isObject } from '../core/json.ts';
import type { ThreadState, ThreadTask } from '../schemas/thread-state.ts';
import type { Interrupt } from '../schemas/threads.ts';
import { checkpointOf, placeOf } from './checkpoint-config.ts';
import { taskError } from './public-errors.ts';
import type { Snapshot, SnapshotTask } from './runnable.ts';
import { type UnreadableNotes, withReasons } from './unreadable.ts';
import { toWire } from './wire.ts';

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
  answered: ReadonlySet<string>,
  unreadable?: UnreadableNotes,
): ThreadState {
  if (snapshot.createdAt === undefined) return emptyThreadState();
  const checkpoint = checkpointOf(snapshot.config);
  const parent = checkpointOf(snapshot.parentConfig);
  const tasks = snapshot.tasks.map((task) => threadTask(task, answered, unreadable));
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
  answered: ReadonlySet<string>,
  unreadable: UnreadableNotes | undefined,
): ThreadTask {
  const { state } = task;
  const nested = state !== undefined && 'values' in state ? state : undefined;
  const interrupts = answered.has(task.id) ? [] : (task.interrupts ?? []);
  return {
    id: task.id,
    name: task.name,
    path: [...(task.path ?? [])],
    error: taskError(task.error),
    interrupts: interrupts.map((interrupt) => toWire(interrupt) as Interrupt),
    checkpoint: nested ? null : placeOf(state),
    state: nested ? threadState(nested, answered, unreadable) : null,
    result: toWire(task.result) ?? null,
  };
}

import { isObject } from '../../core/json.ts';
import { checkpointOf } from '../checkpoint-config.ts';
import type { RunnableGraph, Snapshot } from '../runnable.ts';
import { savedCheckpoint } from './saved-checkpoint.ts';

const NO_TASKS: ReadonlySet<string> = new Set();

/** Written by a task that was interrupted, failed or was resumed, and is not done. */
const CONTROL_CHANNELS = new Set([
  '__error__',
  '__error_source_node__',
  '__interrupt__',
  '__resume__',
  '__scheduled__',
]);

/**
 * Tasks of the snapshot that are done and wait for others of their superstep. LangGraph.js still lists their
 * interrupts, so that several interrupts resumed one by one would all seem pending until the last one is.
 */
export async function resolvedTasks(snapshot: Snapshot, checkpointer: unknown): Promise<ReadonlySet<string>> {
  const { tasks } = snapshot;
  const checkpoint = checkpointOf(snapshot.config);
  if (!checkpoint || tasks.length < 2 || !tasks.some((task) => task.interrupts?.length)) return NO_TASKS;
  const saved = await savedCheckpoint(checkpointer, checkpoint);
  const outcomes = (saved?.pendingWrites ?? []).filter(([, channel]) => !CONTROL_CHANNELS.has(channel));
  const done = new Set(outcomes.map(([task_id]) => task_id));
  // All are done: the thread has continued, and the snapshot lists its past interrupts.
  return tasks.every(({ id }) => done.has(id)) ? NO_TASKS : done;
}

/**
 * Ids of the pending interrupts, including those of subgraphs. One that code throws by itself, such as a `NodeInterrupt`,
 * lacks an id.
 */
export async function pendingInterrupts(
  graph: RunnableGraph,
  config: object,
  checkpointer: unknown,
): Promise<string[]> {
  const snapshot = await graph.getState(config);
  const resolved = await resolvedTasks(snapshot, checkpointer);
  const pending = snapshot.tasks.filter((task) => !resolved.has(task.id));
  const interrupts = pending.flatMap((task) => task.interrupts ?? []);
  const ids = interrupts.map((each) => (isObject(each) ? each['id'] : undefined));
  return [...new Set(ids.filter((id) => typeof id === 'string'))];
}

import { isObject } from '../../core/json.ts';
import { checkpointOf } from '../checkpoint-config.ts';
import type { RunnableGraph, Snapshot } from '../runnable.ts';

/** What LangGraph's checkpointers tell of a checkpoint, as far as it is needed here. */
interface Saver {
  getTuple(
    config: object,
  ): Promise<{ pendingWrites?: readonly (readonly [string, string, unknown])[] } | undefined>;
}

const NO_TASKS: ReadonlySet<string> = new Set();

/** A task that asks, failed or was resumed has written this, and is not done. */
const CONTROL_CHANNELS = new Set([
  '__error__',
  '__error_source_node__',
  '__interrupt__',
  '__resume__',
  '__scheduled__',
]);

/**
 * The tasks of the snapshot that are done and wait for others of their superstep. LangGraph.js keeps listing the
 * interrupts they had, so that several interrupts answered one by one would all seem to wait until the last answer.
 */
export async function resolvedTasks(snapshot: Snapshot, checkpointer: unknown): Promise<ReadonlySet<string>> {
  const { tasks } = snapshot;
  const checkpoint = checkpointOf(snapshot.config);
  if (!checkpoint || tasks.length < 2 || !tasks.some((task) => task.interrupts?.length)) return NO_TASKS;
  const saved = await (checkpointer as Saver).getTuple({ configurable: checkpoint });
  const outcomes = (saved?.pendingWrites ?? []).filter(([, channel]) => !CONTROL_CHANNELS.has(channel));
  const done = new Set(outcomes.map(([task_id]) => task_id));
  // Where all are done the thread has gone on: this is what it asked once.
  return tasks.every(({ id }) => done.has(id)) ? NO_TASKS : done;
}

/** The ids of the interrupts that wait for an answer, of subgraphs too. */
export async function pendingInterrupts(
  graph: RunnableGraph,
  config: object,
  checkpointer: unknown,
): Promise<string[]> {
  const snapshot = await graph.getState(config);
  const resolved = await resolvedTasks(snapshot, checkpointer);
  const pending = snapshot.tasks.filter((task) => !resolved.has(task.id));
  const interrupts = pending.flatMap((task) => task.interrupts ?? []);
  return [...new Set(interrupts.filter(isObject).map(({ id }) => String(id)))];
}

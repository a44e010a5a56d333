import { z } from 'zod';
import { Timestamp, Uuid } from './fields.ts';
import { nameResponses } from './named.ts';
import { CancelAction, RunStatus } from './runs.ts';
import { Interrupt, RunError, ThreadStatus } from './threads.ts';

/** A run of a thread that is in the queue. */
export const QueuedRun = z.object({
  run_id: Uuid,
  /** `ready`: goes next; `waiting`: behind another run of the thread; `delayed`: until `due_at`. */
  state: z.enum(['running', 'ready', 'waiting', 'delayed']),
  /** The run directly ahead of it; `null` for the first run, and for a delayed one. */
  behind: Uuid.nullable(),
  due_at: Timestamp,
  /** Starts so far. */
  attempt: z.int(),
  /** A pending cancellation that the worker has not applied yet. */
  cancel_action: CancelAction.nullable(),
});
export type QueuedRun = z.infer<typeof QueuedRun>;

/** A run of a thread that has ended. */
export const EndedRunView = z.object({
  run_id: Uuid,
  status: RunStatus,
  ended_at: Timestamp,
  error: RunError.nullable(),
});
export type EndedRunView = z.infer<typeof EndedRunView>;

/** Explanation of a thread's status. */
export const ThreadExplanation = z.object({
  thread_id: Uuid,
  status: ThreadStatus,
  /** Human-readable; the fields say the same. */
  summary: z.string(),
  /** Runs in the queue, in order of execution; at most 100. */
  runs: z.array(QueuedRun),
  /** Number of all queued runs. */
  n_runs: z.int(),
  /** Pending interrupts, with the task that asked. */
  interrupts: z.array(Interrupt.extend({ task_id: z.string() })),
  /** The newest run that has ended; `null` if there is none, or if it was deleted. */
  last_run: EndedRunView.nullable(),
  /** Error of the thread. */
  error: RunError.nullable(),
});
export type ThreadExplanation = z.infer<typeof ThreadExplanation>;

nameResponses({ ThreadExplanation });

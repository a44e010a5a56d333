import type { CheckpointGate } from '../graphs/checkpointer/open.ts';
import type { ThreadState } from '../schemas/thread-state.ts';
import type { Interrupt } from '../schemas/threads.ts';
import type { ClaimedRun } from '../storage/queue/claim.ts';
import type { BatchObserver, WriteBuffer } from '../storage/runs/write-buffer.ts';

/** What an extension does in one attempt. */
export interface AttemptObserver extends BatchObserver {
  /** Undefined if nothing limits the run. */
  readonly limit?: AttemptLimit | undefined;
}

/** Called for each attempt that begins; `undefined` for one that it does not observe. Must not throw. */
export type ObserveAttempt = (claimed: ClaimedRun) => AttemptObserver | undefined;

/** What may stop a run between two of its supersteps. */
export interface AttemptLimit {
  /** Before the graph executes. */
  open(): Promise<void>;
  /** Sees each checkpoint; `writes` stores it. */
  gate(writes: Pick<WriteBuffer, 'commit'>): CheckpointGate;
  /** Once aborted, the graph begins no further superstep. */
  readonly drain: AbortSignal;
  /** Set if the graph, which threw `failure`, ended for this. */
  stopOf(failure: unknown): Stop | undefined;
}

export interface Stop {
  /** The run ends with it, unless a person is asked. */
  readonly error: Error;
  /** The limit, in metrics. */
  readonly label: { readonly scope: string; readonly limit: string };
  /** Interrupts by task, which ask a person whether the run may continue; `undefined`: the run ends with the error. */
  readonly ask?: ((state: ThreadState) => Record<string, Interrupt[]>) | undefined;
}

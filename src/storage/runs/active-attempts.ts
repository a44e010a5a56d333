import type { CurrentStep } from '../../schemas/steps.ts';

/** Tells which steps of an attempt are not stored yet; `undefined` if that cannot be known now. */
export type CurrentSteps = () => readonly CurrentStep[] | Promise<readonly CurrentStep[] | undefined>;

/** An attempt that executes, and its steps that are not stored yet. */
export interface AttemptNow {
  readonly attempt: number;
  readonly steps: readonly CurrentStep[];
  /** Its code has ended, and what it did waits in memory for storage: since when, epoch ms. */
  readonly waits_for_storage_since?: number;
}

/** What readers ask of an attempt: its write buffer. */
interface ActiveAttempt {
  whenFlushed(): Promise<void>;
  currentSteps(run_id: string): Promise<AttemptNow | undefined>;
}

/**
 * The attempts that execute in this process, by thread. Read-your-writes: a client that has seen an event must find its
 * checkpoint when it reads the state, even if that still waits for its commit.
 */
export class ActiveAttempts {
  readonly #byThread = new Map<string, ActiveAttempt>();

  add(thread_id: string, writes: ActiveAttempt): void {
    this.#byThread.set(thread_id, writes);
  }

  remove(thread_id: string, writes: ActiveAttempt): void {
    if (this.#byThread.get(thread_id) === writes) this.#byThread.delete(thread_id);
  }

  /** What the run does now; `undefined` if it does not execute in this process, or cannot say. */
  async currentSteps(thread_id: string, run_id: string): Promise<AttemptNow | undefined> {
    return this.#byThread.get(thread_id)?.currentSteps(run_id);
  }

  /** Resolves when all checkpoints made so far on the thread are readable from the database. */
  async whenFlushed(thread_id: string | undefined): Promise<void> {
    if (thread_id !== undefined) await this.#byThread.get(thread_id)?.whenFlushed();
  }
}

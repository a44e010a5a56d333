import type { AttemptWrites } from './attempt-writes.ts';

/**
 * The attempts that execute in this process, by thread. A client may have seen an event whose checkpoint waits for its
 * commit; when it asks for the state then, it must find there what it has seen.
 */
export class OpenAttempts {
  readonly #byThread = new Map<string, AttemptWrites>();

  add(thread_id: string, writes: AttemptWrites): void {
    this.#byThread.set(thread_id, writes);
  }

  remove(thread_id: string, writes: AttemptWrites): void {
    if (this.#byThread.get(thread_id) === writes) this.#byThread.delete(thread_id);
  }

  /** Resolves when the checkpoints of the thread that were made so far can be read from the database. */
  async readable(thread_id: string | undefined): Promise<void> {
    if (thread_id !== undefined) await this.#byThread.get(thread_id)?.readable();
  }
}

import { Latch } from '../../core/latch.ts';
import type { EventBus } from '../../events/bus.ts';
import { MAX_LOG_LINES } from '../../schemas/run-logs.ts';
import type { StoredLines } from '../../storage/runs/run-logs.ts';

/**
 * Buffers stored log lines of this process's runs for one follower, including lines that are deleted right away
 * with their run's thread. Lines of other processes, and lines that a slow follower does not take in time, are
 * only in the database.
 */
export class PrintedLines implements Disposable {
  readonly #subscription: Disposable;
  readonly #changed = new Latch();
  #batches: StoredLines[] = [];
  #lines = 0;

  constructor(bus: EventBus, isWanted: (lines: StoredLines) => boolean) {
    this.#subscription = bus.on('lines.stored', (batch) => {
      if (isWanted(batch)) this.#add(batch);
    });
  }

  /** Lines since the last call, oldest first. */
  take(): readonly StoredLines[] {
    const batches = this.#batches;
    this.#batches = [];
    this.#lines = 0;
    return batches;
  }

  /** Ends a wait, or the next one. */
  wake(): void {
    this.#changed.open();
  }

  /** Waits for lines, or for `wake`. */
  async wait(timeout_ms: number, signal: AbortSignal): Promise<void> {
    await this.#changed.wait(timeout_ms, signal);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #add(batch: StoredLines): void {
    if (this.#lines < MAX_LOG_LINES) {
      this.#batches.push(batch);
      this.#lines += batch.lines.length;
    }
    this.wake();
  }
}

import { Latch } from '../../core/latch.ts';
import type { EventBus } from '../../events/bus.ts';
import { MAX_LOG_LINES } from '../../schemas/run-logs.ts';
import type { StoredLines } from '../../storage/runs/run-logs.ts';

/**
 * Lines that runs of this process print, once they are stored, for one follower: also those that are deleted in the same
 * moment, with the thread of their run. Those of other processes, and those that a slow follower does not take, are in the
 * database only.
 */
export class PrintedLines implements Disposable {
  readonly #subscription: Disposable;
  readonly #changed = new Latch();
  #batches: StoredLines[] = [];
  #lines = 0;

  constructor(bus: Pick<EventBus, 'on'>, isWanted: (lines: StoredLines) => boolean) {
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

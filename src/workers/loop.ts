import { systemClock } from '../core/clock.ts';
import { Latch } from '../core/latch.ts';
import type { Logger } from '../core/logger.ts';

export interface LoopOptions {
  readonly name: string;
  /** One iteration. Returns the delay before the next one, ms; `wake` cuts it short. */
  readonly tick: () => Promise<number>;
  /** Upper bound of the back-off after failed ticks, ms; default 10 s. */
  readonly max_backoff_ms?: number;
  readonly logger: Logger;
}

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 10_000;

/** Repeats a tick until stopped. A failed tick is logged and retried with exponential back-off. */
export class Loop {
  readonly #options: LoopOptions;
  readonly #stop = new AbortController();
  readonly #wakeup = new Latch();
  #running: Promise<void> | undefined;
  #turned_at = systemClock.monotonic();

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** When the newest tick began, monotonic ms; when the loop was made before the first; `undefined` once it stops. */
  get turned_at(): number | undefined {
    return this.#stop.signal.aborted ? undefined : this.#turned_at;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the current delay: there is work. */
  wake(): void {
    this.#wakeup.open();
  }

  /** Resolves when the current tick has finished. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { max_backoff_ms = MAX_BACKOFF_MS } = this.#options;
    let backoff_ms = FIRST_BACKOFF_MS;
    while (!signal.aborted) {
      let delay_ms: number;
      this.#turned_at = systemClock.monotonic();
      try {
        delay_ms = await this.#options.tick();
        backoff_ms = FIRST_BACKOFF_MS;
      } catch (error) {
        this.#options.logger.error(`${this.#options.name} failed, retrying`, {
          error,
          in_ms: backoff_ms,
        });
        delay_ms = backoff_ms;
        backoff_ms = Math.min(backoff_ms * 2, max_backoff_ms);
      }
      await this.#wakeup.wait(delay_ms, signal);
    }
  }
}

import { Latch } from '../core/latch.ts';
import type { Logger } from '../core/logger.ts';

export interface LoopOptions {
  readonly name: string;
  /** One turn of work. Returns how long to rest when nobody pokes, ms. */
  readonly tick: () => Promise<number>;
  /** The longest wait after ticks that failed, ms; 10 s without it. */
  readonly max_backoff_ms?: number;
  readonly logger: Logger;
}

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 10_000;

/** Repeats a tick until it is stopped. A tick that throws is logged and tried again, slower each time. */
export class Loop {
  readonly #options: LoopOptions;
  readonly #stop = new AbortController();
  readonly #wakeup = new Latch();
  #running: Promise<void> | undefined;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** There is something to do: the rest ends now. */
  wake(): void {
    this.#wakeup.open();
  }

  /** Resolves when the tick that runs is over. */
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

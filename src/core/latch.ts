import { after } from './timers.ts';

/** One waiter, any number of openings: an opening before the wait is not lost. */
export class Latch {
  #opened = false;
  #wake: (() => void) | undefined;

  open(): void {
    this.#opened = true;
    this.#wake?.();
  }

  /** True when opened, false after `timeout_ms` or on abort; closes the latch again. */
  wait(timeout_ms: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#opened || signal?.aborted) {
      const opened = this.#opened;
      this.#opened = false;
      return Promise.resolve(opened);
    }
    return new Promise((resolve) => {
      const done = () => {
        timer[Symbol.dispose]();
        signal?.removeEventListener('abort', done);
        const opened = this.#opened;
        this.#wake = undefined;
        this.#opened = false;
        resolve(opened);
      };
      const timer = after(timeout_ms, done);
      signal?.addEventListener('abort', done, { once: true });
      this.#wake = done;
    });
  }
}

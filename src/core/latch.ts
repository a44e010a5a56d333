import { after } from './timers.ts';

/** Auto-reset event for one waiter: `open` before `wait` is not lost. */
export class Latch {
  #opened = false;
  #wake: (() => void) | undefined;

  open(): void {
    this.#opened = true;
    this.#wake?.();
  }

  /** Resolves to `true` when opened, `false` after `timeout_ms` or on abort; closes the latch again. */
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

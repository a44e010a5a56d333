import { after } from './timers.ts';

/** Auto-reset event for one waiter: `open` before `wait` is not lost. */
export class Latch {
  #isOpen = false;
  #wake: (() => void) | undefined;

  open(): void {
    this.#isOpen = true;
    this.#wake?.();
  }

  /** Resolves to `true` when opened, `false` after `timeout_ms` or on abort; closes the latch again. */
  wait(timeout_ms: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#isOpen || signal?.aborted) {
      const wasOpen = this.#isOpen;
      this.#isOpen = false;
      return Promise.resolve(wasOpen);
    }
    return new Promise((resolve) => {
      const done = () => {
        timer[Symbol.dispose]();
        signal?.removeEventListener('abort', done);
        const wasOpen = this.#isOpen;
        this.#wake = undefined;
        this.#isOpen = false;
        resolve(wasOpen);
      };
      const timer = after(timeout_ms, done);
      signal?.addEventListener('abort', done, { once: true });
      this.#wake = done;
    });
  }
}

/** One waiter, any number of openings: an opening before the wait is not lost. */
export class Latch {
  #opened = false;
  #wake: (() => void) | undefined;

  open(): void {
    this.#opened = true;
    this.#wake?.();
  }

  /** Resolves when opened, after `timeout_ms`, or on abort, and closes the latch again. */
  wait(timeout_ms: number, signal?: AbortSignal): Promise<void> {
    if (this.#opened || signal?.aborted) {
      this.#opened = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        this.#wake = undefined;
        this.#opened = false;
        resolve();
      };
      const timer = setTimeout(done, timeout_ms);
      signal?.addEventListener('abort', done, { once: true });
      this.#wake = done;
    });
  }
}

import { Unavailable } from '../../core/errors.ts';
import { after } from '../../core/timers.ts';

/** Time after which work without a host fails, ms. */
const WAIT_MS = 30_000;

/** Work that waits until there is a host for it. */
export class WaitingForHost<Host> {
  readonly #waiting = new Set<() => void>();

  /** Call when hosts may have become available, or when there will be none. */
  notify(): void {
    for (const look of [...this.#waiting]) look();
  }

  /**
   * What `find` finds, now or after a `notify`. Throws the error of `failure` if there is one, the reason of `signal`,
   * and `Unavailable` if nothing is found for long.
   */
  async whenFound(
    find: () => Host | undefined,
    failure: () => Error | undefined,
    signal?: AbortSignal,
  ): Promise<Host> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Host>();
    const look = () => {
      const [host, error] = [find(), failure()];
      if (host) resolve(host);
      else if (error) reject(error);
      return host ?? error;
    };
    if (look()) return promise;
    const onAbort = () => reject(signal?.reason);
    using _timer = after(WAIT_MS, () => reject(new Unavailable('No graph host is ready. Try again later.')));
    this.#waiting.add(look);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await promise;
    } finally {
      this.#waiting.delete(look);
      signal?.removeEventListener('abort', onAbort);
    }
  }
}

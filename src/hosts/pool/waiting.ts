import { Unavailable } from '../../core/errors.ts';
import { immediate } from '../../core/event-loop.ts';
import { after } from '../../core/timers.ts';

/** Time after which work without a host fails, ms. */
const WAIT_MS = 30_000;
const NO_TIME = 'No graph host has time: all are computing, or none has loaded the project. Try again later.';

/** Work that waits until there is a host for it. */
export class WaitingForHost<Host> {
  readonly #waiting = new Set<() => boolean>();
  #isStale = false;
  #isLooking = false;

  /**
   * Call when hosts may have become available, or when there will be none. What found a host takes it before the next one
   * looks: hosts are chosen by what they execute, so that all would choose the same.
   */
  notify(): void {
    this.#isStale = true;
    if (!this.#isLooking) void this.#lookInTurn();
  }

  async #lookInTurn(): Promise<void> {
    this.#isLooking = true;
    while (this.#isStale) {
      this.#isStale = false;
      for (const look of [...this.#waiting]) if (this.#waiting.has(look) && look()) await immediate();
    }
    this.#isLooking = false;
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
      try {
        const [host, error] = [find(), failure()];
        if (host) resolve(host);
        else if (error) reject(error);
        return Boolean(host ?? error);
      } catch (error) {
        reject(error);
        return true;
      }
    };
    if (look()) return promise;
    const onAbort = () => reject(signal?.reason);
    using _timer = after(WAIT_MS, () => reject(new Unavailable(NO_TIME)));
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

/** While what the graphs need is not open yet. */
export function refuseAtStart(): never {
  throw new Unavailable('The server is starting. Try again later.');
}

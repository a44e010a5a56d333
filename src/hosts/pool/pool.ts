import type { Clock } from '../../core/clock.ts';
import { HostLost, Unavailable } from '../../core/errors.ts';
import { after } from '../../core/timers.ts';
import { GraphLoadError } from '../../graphs/project/load-error.ts';
import { Host, type HostOptions } from './host.ts';

export interface PoolOptions extends Omit<HostOptions, 'number'> {
  /** How many hosts. */
  readonly count: number;
  readonly clock: Clock;
}

type Listing = Awaited<Host['ready']>;

/** Time after which a request without a host fails, ms. */
const WAIT_MS = 30_000;
/** A host that ends so often while it loads the project, within the time, is not started again. */
const MAX_EARLY_ENDS = 3;
const EARLY_ENDS_MS = 30_000;

/** The hosts of one revision of the project: as many as configured, each replaced when it ends. */
export class HostPool implements AsyncDisposable {
  readonly #options: PoolOptions;
  readonly #hosts = new Map<number, Host>();
  readonly #waiting = new Set<() => void>();
  readonly #listing = Promise.withResolvers<Listing>();
  #isClosed = false;
  /** Why there are no hosts: none could load the project. */
  #failure: GraphLoadError | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#listing.promise.catch(() => {});
    for (let number = 1; number <= options.count; number += 1) this.#start(number);
  }

  /** What the first host that is ready has loaded. Rejects if none could start. */
  get listing(): Promise<Listing> {
    return this.#listing.promise;
  }

  get hosts(): readonly Host[] {
    return [...this.#hosts.values()];
  }

  /** The host with the fewest open sessions. Waits for one; throws `Unavailable` if there is none for long. */
  async take(signal?: AbortSignal): Promise<Host> {
    const found = this.#leastLoaded();
    if (found) return found;
    if (this.#failure) throw this.#failure;
    const { promise, resolve, reject } = Promise.withResolvers<Host>();
    const look = () => {
      const host = this.#leastLoaded();
      if (host) resolve(host);
      else if (this.#failure) reject(this.#failure);
    };
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#listing.reject(new HostLost('The server is stopping.', false));
    await Promise.all(this.hosts.map((host) => host.stop()));
  }

  #leastLoaded(): Host | undefined {
    const available = this.hosts.filter(({ isAvailable }) => isAvailable);
    return available.toSorted((a, b) => a.sessions.size - b.sessions.size)[0];
  }

  /** `early`: when earlier processes with this number ended while they loaded the project. */
  #start(number: number, early: readonly number[] = []): void {
    const { logger, clock } = this.#options;
    const host = new Host({ ...this.#options, number });
    this.#hosts.set(number, host);
    host.ready.then(
      (listing) => {
        logger.debug('graph host ready', { host: number, pid: host.pid });
        this.#listing.resolve(listing);
        this.#notifyWaiting();
      },
      // The end of the process is handled below; one that only hangs is ended.
      () => void host.stop(),
    );
    void host.ended.then((reason) => {
      if (this.#isClosed) return;
      logger.error('a graph host ended', { host: number, pid: host.pid, reason: reason.message });
      if (host.hasBeenReady) return this.#start(number);
      const since = clock.monotonic() - EARLY_ENDS_MS;
      const ends = [...early.filter((at) => at > since), clock.monotonic()];
      if (ends.length < MAX_EARLY_ENDS) return this.#start(number, ends);
      this.#hosts.delete(number);
      if (this.#hosts.size === 0) this.#giveUp();
    });
  }

  #giveUp(): void {
    const { logger } = this.#options;
    const message = `Its process ended ${MAX_EARLY_ENDS} times while it loaded the project`;
    this.#failure = new GraphLoadError(`The graphs failed to load. ${message}; see the server log.`);
    logger.error('graph hosts cannot load the project, and are not started again', { reason: message });
    this.#listing.reject(this.#failure);
    this.#notifyWaiting();
  }

  #notifyWaiting(): void {
    for (const look of [...this.#waiting]) look();
  }
}

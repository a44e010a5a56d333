import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import { HostLost, Unavailable } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { after, every } from '../../core/timers.ts';
import type { GraphHost } from '../../graphs/graph.ts';
import { GraphLoadError } from '../../graphs/project/load-error.ts';
import { Host, type HostListing, type HostOptions } from './host.ts';
import type { HostEnd } from './host-end.ts';

export interface PoolOptions extends Omit<HostOptions, 'number' | 'started_at'> {
  /** How many hosts. */
  readonly count: number;
  /** Memory above which a host is replaced, bytes; `undefined`: no limit. */
  readonly max_memory_bytes?: number | undefined;
  /** Runs after which a host is replaced; `undefined`: no limit. */
  readonly max_runs?: number | undefined;
  readonly clock: Clock;
}

/** What work is for: a host is chosen by it. */
export interface Work {
  /** Its next run prefers the same host: modules of the project may remember something about it. */
  readonly thread_id?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Not this one. */
  readonly except?: Host | undefined;
}

/** Time after which work without a host fails, ms. */
const WAIT_MS = 30_000;
/** Ends in a row, within the time, after which a host is not started again at once; if it never was ready, not at all. */
const MAX_ENDS = 3;
const ENDS_MS = 30_000;
/** Delay before a host that keeps ending is started again, ms. */
const RESTART_DELAY_MS = 10_000;
/** Threads whose last host is remembered. */
const REMEMBERED_THREADS = 10_000;
/** How much busier than another the preferred host may be, in sessions. */
const MAX_PREFERENCE = 2;
/** Interval at which limits are checked, ms. */
const CHECK_MS = 1000;
/** How long a host that is replaced may take until its last run has made a checkpoint, ms. */
const HAND_OVER_MS = 60_000;
/** How long a host may take to send its traces, ms. */
const DRAIN_MS = 4000;

/** The hosts of one revision of the project: as many as configured, each replaced when it ends. */
export class HostPool implements AsyncDisposable {
  readonly #options: PoolOptions;
  readonly #logger: Logger;
  /** By number; one that is being replaced is in `#leaving`. */
  readonly #hosts = new Map<number, Host>();
  readonly #leaving = new Set<Host>();
  readonly #lastHost = new LRUCache<string, number>({ max: REMEMBERED_THREADS });
  readonly #waiting = new Set<() => void>();
  readonly #listing = Promise.withResolvers<HostListing>();
  readonly #checks: Disposable;
  /** How many processes each number has had. */
  readonly #starts = new Map<number, number>();
  #isClosed = false;
  /** Why there are no hosts: none could load the project. */
  #failure: GraphLoadError | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#logger = options.logger;
    this.#listing.promise.catch(() => {});
    this.#start(1);
    this.#checks = every(CHECK_MS, () => this.#check());
  }

  /** What the first host that is ready has loaded. Rejects if none could start. */
  get listing(): Promise<HostListing> {
    return this.#listing.promise;
  }

  /** Those that are being replaced included. */
  get hosts(): readonly Host[] {
    return [...this.#hosts.values(), ...this.#leaving];
  }

  /** What operators see. */
  views(): GraphHost[] {
    return [...this.#hosts.values()].map((host) => ({
      ...host.view(),
      restarts: (this.#starts.get(host.number) ?? 1) - 1,
    }));
  }

  /**
   * The thread's last host, or the one with the fewest sessions; not one whose event loop is blocked. Waits for one;
   * throws `Unavailable` if there is none for long.
   */
  async take(work: Work = {}): Promise<Host> {
    const found = this.find(work);
    if (found) return found;
    if (this.#failure) throw this.#failure;
    const { promise, resolve, reject } = Promise.withResolvers<Host>();
    const look = () => {
      const host = this.find(work);
      if (host) resolve(host);
      else if (this.#failure) reject(this.#failure);
    };
    const onAbort = () => reject(work.signal?.reason);
    using _timer = after(WAIT_MS, () => reject(new Unavailable('No graph host is ready. Try again later.')));
    this.#waiting.add(look);
    work.signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await promise;
    } finally {
      this.#waiting.delete(look);
      work.signal?.removeEventListener('abort', onAbort);
    }
  }

  /** As `take`, but does not wait. */
  find({ thread_id = '', except }: Work = {}): Host | undefined {
    const free = [...this.#hosts.values()].filter(
      (host) => host.isAvailable && host.blocked_ms === 0 && host !== except,
    );
    const least = free.toSorted((a, b) => a.sessions.size - b.sessions.size)[0];
    const last = free.find(({ number }) => number === this.#lastHost.get(thread_id));
    const isBusier = last && least && last.sessions.size > least.sessions.size + MAX_PREFERENCE;
    const chosen = isBusier ? least : (last ?? least);
    if (chosen && thread_id !== '') this.#lastHost.set(thread_id, chosen.number);
    return chosen;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#checks[Symbol.dispose]();
    this.#listing.reject(new HostLost('The server is stopping.', false));
    await Promise.all(this.hosts.map((host) => host.stop('the server stops', DRAIN_MS)));
  }

  /** One after the other: loaded at once, all of them would be ready later than the first alone. */
  #startFurther(): void {
    const number = this.#starts.size + 1;
    if (number <= this.#options.count) this.#start(number);
  }

  /** `ends`: when earlier processes with this number ended, lately. */
  #start(number: number, ends: readonly number[] = []): void {
    if (this.#isClosed) return;
    const host = new Host({ ...this.#options, number, started_at: this.#options.clock.monotonic() });
    this.#starts.set(number, (this.#starts.get(number) ?? 0) + 1);
    this.#hosts.set(number, host);
    host.ready.then(
      (listing) => {
        this.#logger.debug('graph host ready', { host: number, pid: host.pid });
        this.#listing.resolve(listing);
        this.#notifyWaiting();
        this.#startFurther();
      },
      () => {
        // One that has ended is handled below.
        if (!host.peer.isClosed) void host.stop('it did not load the project');
      },
    );
    void host.ended.then((end) => this.#onEnded(host, end, ends));
  }

  #onEnded(host: Host, { reason, is_intended, run_id }: HostEnd, before: readonly number[]): void {
    const { number, pid } = host;
    this.#leaving.delete(host);
    const isReplaced = this.#hosts.get(number) !== host;
    if (this.#isClosed || isReplaced) return;
    if (!is_intended) this.#logger.error('a graph host ended', { host: number, pid, reason, run_id });
    this.#hosts.delete(number);
    const now = this.#options.clock.monotonic();
    const ends = [...before.filter((at) => at > now - ENDS_MS), now];
    if (ends.length < MAX_ENDS) this.#start(number, ends);
    else if (host.isReady) after(RESTART_DELAY_MS, () => this.#start(number, ends)).unref();
    else if (this.#hosts.size === 0) this.#giveUp(reason);
  }

  #giveUp(reason: string): void {
    const times = `${MAX_ENDS} times`;
    this.#logger.error(`graph hosts ended ${times} while they loaded the project; none is started again`, {
      reason,
    });
    this.#failure = new GraphLoadError(
      `The graphs failed to load: their process ended ${times}; see the server log.`,
    );
    this.#listing.reject(this.#failure);
    this.#notifyWaiting();
  }

  /** Replaces hosts that are beyond a limit; hosts that were blocked may be free again. */
  #check(): void {
    const {
      max_memory_bytes = Number.POSITIVE_INFINITY,
      max_runs = Number.POSITIVE_INFINITY,
      clock,
    } = this.#options;
    for (const host of [...this.#hosts.values()]) {
      if (!host.isAvailable) continue;
      const { rss_bytes = 0 } = host.status ?? {};
      // A project that needs more than that at rest would be replaced all the time.
      const isOld = clock.monotonic() - host.started_at > RESTART_DELAY_MS;
      if (rss_bytes > max_memory_bytes && isOld)
        this.#replace(host, 'it uses more memory than hosts.max_memory_mb');
      else if (host.runs >= max_runs) this.#replace(host, 'it has executed hosts.max_runs runs');
    }
    this.#notifyWaiting();
  }

  /** Its runs go on elsewhere from their next checkpoint. */
  #replace(host: Host, reason: string): void {
    this.#logger.info('a graph host is replaced', { host: host.number, pid: host.pid, reason });
    host.drain();
    this.#leaving.add(host);
    this.#start(host.number);
    const stop = () => {
      deadline[Symbol.dispose]();
      void host.stop(reason, DRAIN_MS);
    };
    const deadline = after(HAND_OVER_MS, stop).unref();
    host.sessions.whenEmpty(stop);
  }

  #notifyWaiting(): void {
    for (const look of [...this.#waiting]) look();
  }
}

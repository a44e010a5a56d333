import type { Clock } from '../../core/clock.ts';
import { HostLost } from '../../core/errors.ts';
import { systemIds } from '../../core/ids.ts';
import type { Logger } from '../../core/logger.ts';
import { every } from '../../core/timers.ts';
import type { GraphHost } from '../../graphs/graph.ts';
import type { GraphStoreAccess } from '../../graphs/store/graph-store.ts';
import { Elasticity, type HostCount } from './elastic.ts';
import { Exchanges } from './exchanges.ts';
import { Host, type HostListing, type HostOptions } from './host.ts';
import { HostChoice, type Work } from './host-choice.ts';
import type { HostEnd } from './host-end.ts';
import { Isolation } from './isolation.ts';
import { DRAIN_MS, LeavingHosts } from './leaving.ts';
import { Listings, logAppError } from './listings.ts';
import { tooLarge } from './memory-limit.ts';
import { loadChange } from './reload.ts';
import { DelayedStarts, keepsEnding, logNotStarted, notLoaded, recentEnds } from './restarts.ts';
import { type HostedApp, type HostSockets, hostSockets } from './sockets.ts';
import { TakeOvers } from './take-over.ts';
import { refuseAtStart, WaitingForHost } from './waiting.ts';

export interface PoolOptions
  extends Omit<HostOptions, 'number' | 'started_at' | 'store' | 'project' | 'onStatus'>,
    HostedApp {
  readonly project: Omit<HostOptions['project'], 'http'>;
  readonly count: HostCount;
  /** Memory above which a host is replaced, bytes; `undefined`: no limit. */
  readonly max_memory_bytes?: number | undefined;
  readonly clock: Clock;
}

/** Interval at which memory, load and idleness of hosts are checked, ms. */
const CHECK_MS = 1000;

/** The hosts of one revision of the project: as many as configured, or as the runs need; each is replaced when it ends. */
export class HostPool implements AsyncDisposable {
  readonly sockets: HostSockets;
  readonly exchanges: Exchanges;
  readonly isolation: Isolation;
  readonly #options: PoolOptions;
  readonly #logger: Logger;
  /** Hosts by number; those being replaced are in `#leaving`. */
  readonly #hosts = new Map<number, Host>();
  readonly #leaving: LeavingHosts;
  readonly #elasticity: Elasticity;
  readonly #choice = new HostChoice();
  readonly #takeOvers = new TakeOvers();
  readonly #waiting = new WaitingForHost<Host>();
  readonly #listings = new Listings();
  readonly #checks: Disposable;
  /** How many processes each number has had. */
  readonly #starts = new Map<number, number>();
  readonly #delayed = new DelayedStarts();
  #store: GraphStoreAccess | undefined;
  #isClosed = false;
  /** A change of the code has not been loaded: a host that starts would execute other code than the rest. */
  #isOutdated = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#logger = options.logger;
    const ids = systemIds(options.clock);
    this.sockets = hostSockets(ids, options.clock);
    this.exchanges = new Exchanges(ids);
    this.#elasticity = new Elasticity(options.clock);
    this.#leaving = new LeavingHosts(options.logger);
    this.isolation = new Isolation(() => this.#spawnBeside(options.count.most + 1), options.logger);
    this.#start(1);
    this.#checks = every(CHECK_MS, () => this.#check());
  }

  /** Sets what the graphs use as their store, which may itself need hosts. Called before the first run. */
  serveStore(store: GraphStoreAccess): void {
    this.#store = store;
  }

  /** What the first host that is ready has loaded. Rejects while none could. */
  get listing(): Promise<HostListing> {
    return this.#listings.promise;
  }

  /** Calls `act` with what the first host has loaded, at once if it has, and again after each reload. */
  onListing(act: (listing: HostListing) => void): void {
    this.#listings.on(act);
  }

  /** All hosts, also those that are being replaced. */
  get hosts(): readonly Host[] {
    return [...this.#hosts.values(), ...this.#leaving.all];
  }

  /** Status of the hosts for operators. */
  views(): GraphHost[] {
    return [...this.#hosts.values()].map((host) => ({
      ...host.view(),
      restarts: (this.#starts.get(host.number) ?? 1) - 1,
    }));
  }

  /**
   * The thread's last host, or the one with the fewest runs; not one whose event loop is blocked. Waits for one;
   * throws `Unavailable` if there is none for long.
   */
  take(work: Work = {}): Promise<Host> {
    return this.#whenFound(() => this.find(work), work.signal);
  }

  /** The host with the lowest number; not a blocked one, unless all are. Waits like `take`. */
  first(signal: AbortSignal): Promise<Host> {
    return this.#whenFound(() => this.firstBeside([]), signal);
  }

  /** The same among the others, without waiting. */
  firstBeside(known: readonly Host[]): Host | undefined {
    const others = this.#available().filter((host) => !known.includes(host));
    return others.find(({ blocked_ms }) => blocked_ms === 0) ?? others[0];
  }

  /**
   * The host that serves the project's app: the same until it ends, then the one with the lowest number. Waits and
   * throws like `take`.
   */
  takeForApp(signal?: AbortSignal): Promise<Host> {
    return this.#whenFound(() => this.#choice.forApp(this.#available()), signal);
  }

  /** Hosts that accept work, by number. */
  #available(): Host[] {
    const hosts = [...this.#hosts.values()].filter(({ isAvailable }) => isAvailable);
    return hosts.sort((a, b) => a.number - b.number);
  }

  #whenFound(find: () => Host | undefined, signal: AbortSignal | undefined): Promise<Host> {
    return this.#waiting.whenFound(find, () => this.#listings.failure, signal);
  }

  /** As `take`, but does not wait. */
  find(work: Work = {}): Host | undefined {
    return this.#choice.find(this.#available(), work);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#checks[Symbol.dispose]();
    this.#delayed.cancel();
    this.#listings.fail(new HostLost('The server is stopping.', false));
    await Promise.all(this.hosts.map((host) => host.stop('the server stops', DRAIN_MS)));
    this.sockets[Symbol.dispose]();
  }

  /** What the hosts have loaded; `undefined` as long as none is ready. */
  get loaded(): HostListing | undefined {
    return this.#listings.last;
  }

  /**
   * Loads the project as it is now. Its hosts take the place of those there are, whose runs continue from their next
   * checkpoint. Resolves with what the first has loaded; or with `undefined` if the previous code stays (`loadChange`).
   */
  async reload(signal: AbortSignal): Promise<HostListing | undefined> {
    this.#isOutdated = true;
    const host = this.#spawnBeside(1);
    const listing = await loadChange(host, this.loaded, signal, this.#logger);
    if (listing === undefined) return undefined;
    this.#isOutdated = false;
    this.#leaving.delete(host);
    for (const old of this.#hosts.values()) this.#leaving.supersede(old);
    this.#hosts.clear();
    this.#delayed.cancel();
    this.#hosts.set(host.number, host);
    this.#listings.renew();
    this.#onReady(host, listing);
    return listing;
  }

  /** `ends`: when earlier processes with this number ended, lately. */
  #start(number: number, ends: readonly number[] = []): void {
    if (this.#isClosed) return;
    let host: Host;
    try {
      host = this.#spawn(number, ends);
    } catch (error) {
      logNotStarted(this.#logger, number, error);
      this.#hosts.delete(number);
      this.#startLater(number, ends);
      return;
    }
    this.#hosts.set(number, host);
    host.ready.then(
      (listing) => this.#onReady(host, listing),
      () => {
        // A host that has ended is handled below.
        if (!host.peer.isClosed) void host.stop('it did not load the project');
      },
    );
  }

  #spawn(number: number, ends: readonly number[] = []): Host {
    const started_at = this.#options.clock.monotonic();
    const project = { ...this.#options.project, http: this.sockets.forHost(this.#options) };
    const store = () => this.#store ?? refuseAtStart();
    const onStatus = () => this.#onStatus();
    const host = new Host({ ...this.#options, number, started_at, project, store, onStatus });
    this.#starts.set(number, (this.#starts.get(number) ?? 0) + 1);
    void host.ended.then((end) => this.#onEnded(host, end, ends));
    return host;
  }

  /** A host that takes no work by itself. */
  #spawnBeside(number: number): Host {
    const host = this.#spawn(number);
    this.#leaving.add(host);
    return host;
  }

  #onReady(host: Host, listing: HostListing): void {
    this.#logger.debug('graph host ready', { host: host.number, pid: host.pid });
    logAppError(this.#logger, host.number, listing);
    this.#listings.add(listing);
    this.#waiting.notify();
    this.#onStatus();
    if (this.#hosts.size < this.#options.count.least) this.#startNext();
  }

  /**
   * Starts one more host, if there may be more. One at a time: in parallel, all of them would be ready later than the first
   * alone.
   */
  #startNext(): void {
    const isStarting = [...this.#hosts.values()].some(({ isReady }) => !isReady);
    const isFull = this.#hosts.size >= this.#options.count.most;
    if (isStarting || isFull || this.#isOutdated || this.#delayed.isWaiting) return;
    let number = 1;
    while (this.#hosts.has(number)) number += 1;
    this.#start(number);
  }

  /** Another host continues the runs of those that are blocked; it is started if none would begin a run now. */
  #onStatus(): void {
    const available = this.#available();
    if (available.some(({ blocked_ms }) => blocked_ms === 0)) this.#takeOvers.relieve(this.hosts);
    if (available.length > 0 && this.#elasticity.areHeldUp(available)) this.#startNext();
  }

  #onEnded(host: Host, end: HostEnd, before: readonly number[]): void {
    const { reason, is_intended, is_external, run } = end;
    const { number, pid } = host;
    this.#leaving.delete(host);
    const isReplaced = this.#hosts.get(number) !== host;
    if (this.#isClosed || isReplaced) return;
    if (!is_intended) this.#logger.error('a graph host ended', { host: number, pid, reason, ...run });
    this.#hosts.delete(number);
    const ends = recentEnds(before, this.#options.clock.monotonic(), this.loaded !== undefined);
    if (keepsEnding(ends)) this.#startLater(number, ends);
    else this.#start(number, ends);
    // A project that has loaded before can be loaded again.
    const isBroken = !host.isReady && !this.loaded && !is_external;
    if (isBroken && this.#hosts.size === 0) this.#fail(reason);
  }

  #startLater(number: number, ends: readonly number[]): void {
    this.#delayed.add(number, () => {
      // A host that was ready may have started this one as the next.
      if (!this.#hosts.has(number)) this.#start(number, ends);
    });
  }

  /** Until a host can load the project, requests for its graphs fail with this error. */
  #fail(reason: string): void {
    if (this.#listings.failure) return;
    this.#listings.fail(notLoaded(this.#logger, reason));
    this.#waiting.notify();
  }

  /** Replaces hosts that use too much memory, and ends idle ones; hosts that were blocked may be free again. */
  #check(): void {
    for (const host of tooLarge(this.#available(), this.#options)) {
      this.#leaving.replaceLarge(host);
      this.#start(host.number);
    }
    this.#waiting.notify();
    void this.#adapt();
  }

  /** Starts another host while all compute for several runs, and ends those that have had no work for long. */
  async #adapt(): Promise<void> {
    const { least, most } = this.#options.count;
    if (least === most) return;
    // What modules remember is in the first one, and in that of the project's app: they stay.
    const [, ...others] = this.#available().filter((host) => !this.#choice.isForApp(host));
    for (const host of this.#elasticity.idle(others).toReversed()) {
      if (this.#hosts.size <= least) break;
      this.#hosts.delete(host.number);
      this.#starts.delete(host.number);
      this.#leaving.endIdle(host);
    }
    if (await this.#elasticity.areBusy(this.#available())) this.#startNext();
  }
}

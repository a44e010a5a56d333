import { systemRandom } from '../core/backoff.ts';
import { systemClock } from '../core/clock.ts';
import { after, sleep, type Timer } from '../core/timers.ts';
import type { PollIntervals } from '../events/bus.ts';
import type { ClaimedRun } from '../storage/queue/claim.ts';
import type { HeldLease } from '../storage/queue/workers.ts';
import { leaseKey } from '../storage/runs/lease.ts';
import { StopReason } from './attempt.ts';
import { MAX_LOOK_MS, MIN_LOOK_MS } from './load-limits.ts';
import { Loop } from './loop.ts';
import { OrphanedRuns } from './orphaned-runs.ts';
import { runAttempt } from './run-attempt.ts';
import type { RunWorkerDeps } from './run-worker-deps.ts';

/**
 * Poll intervals, ms: the latency that a lost wake-up costs. Upper bound: if a process crashes right after its commit, no
 * notification follows.
 */
const POLL_MS: PollIntervals = { rare: 1000, usual: 1000, frequent: 250 };
/** Interval at which an idle process looks for leases that it does not know of, ms. */
const IDLE_RECONCILE_MS = 30_000;
/** Runs per claim. */
const CLAIM_BATCH = 10;
/** Delay before the next claim when other transactions held the locks of ready runs (`skip locked`), ms. */
const SKIP_LOCKED_MS = 10;

interface Active {
  readonly claimed: ClaimedRun;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/** Claims runs from the queue as slots become free, and stops those that were cancelled or lost their lease. */
export class RunWorker {
  readonly #deps: RunWorkerDeps;
  readonly #active = new Map<string, Active>();
  /** Tokens of claims in flight. */
  readonly #claiming = new Set<string>();
  /** Runs that were cancelled while a claim was in flight, which may have claimed them. */
  readonly #cancelledMeanwhile = new Set<string>();
  readonly #orphans: OrphanedRuns;
  /** The last tick found no free slot: more runs may be ready. */
  #saturated = false;
  /** More runs are ready than have been claimed, as far as is known: without a free slot, others are offered them. */
  #isWoken = true;
  /** Set while a look for runs is due that were offered to another process first. */
  #secondLook: Timer | undefined;
  /** A claim failed, or the leases could not be read since: it may have been committed. */
  #isUncertain = false;
  #reconciled_at = Number.NEGATIVE_INFINITY;
  readonly #handOver = new AbortController();
  readonly #loop: Loop;
  #subscriptions: Disposable[] = [];

  constructor(deps: RunWorkerDeps) {
    this.#deps = deps;
    this.#orphans = new OrphanedRuns(deps);
    this.#loop = new Loop({ name: 'run worker', tick: () => this.tick(), logger: deps.logger });
  }

  /** When the loop that claims runs last turned, monotonic ms; `undefined` once it claims no more. */
  get turned_at(): number | undefined {
    return this.#loop.turned_at;
  }

  /** Runs that execute in this process. */
  get active(): number {
    return this.#active.size;
  }

  /** How many this process takes now; with `auto`, more may execute already. */
  get slots(): number {
    return this.#deps.auto?.slots ?? this.#deps.concurrency;
  }

  start(): void {
    const { bus } = this.#deps;
    this.#subscriptions = [
      bus.on('run.ready', () => this.#runsReady()),
      bus.on('runs.offered', (is_first) => this.#runsOffered(is_first)),
      bus.on('reconnected', () => this.#reconnected()),
      bus.on('run.cancelled', (run_id) => this.#runCancelled(run_id)),
    ];
    this.#loop.start();
  }

  /** Claims as many runs as there are free slots. */
  async tick(): Promise<number> {
    const { queue, bus, auto, isLeaseHeld, scope } = this.#deps;
    // Other processes would take the runs at once.
    if (!isLeaseHeld()) return POLL_MS.usual;
    const free = Math.min(this.#freeSlots, CLAIM_BATCH);
    const wasWoken = this.#isWoken;
    this.#isWoken = false;
    this.#saturated = free <= 0 && !auto;
    if (free <= 0 && wasWoken) bus.emit('runs.offered', false);
    if (this.#saturated) return POLL_MS[bus.poll_rate];
    // A poll: a claim that finds nothing costs a transaction of two round trips, and idle servers do little else.
    if (!wasWoken && !auto?.isAsked && !(await queue.hasReady(scope?.()))) return POLL_MS[bus.poll_rate];
    if (free > 0) auto?.rest();
    const admitted = free > 0 || !auto ? free : await auto.admit(this.active);
    if (admitted > 0) return this.#claim(admitted);
    this.#saturated = true;
    return auto?.wait_ms ?? 0;
  }

  /** Returns the delay before the next tick, ms. */
  async #claim(limit: number): Promise<number> {
    const { queue, ids, bus, worker_id, scope, executor_id } = this.#deps;
    const token = ids.uuid4();
    this.#claiming.add(token);
    try {
      const claimed = await queue.claim({ worker_id, token, limit, scope: scope?.(), executor_id });
      for (const each of claimed) {
        this.#start(each);
        bus.emit('row.changed', 'run', each.lease.run_id);
      }
      if (claimed.some(({ lease }) => this.#cancelledMeanwhile.has(lease.run_id))) this.#reconcileSoon();
      if (claimed.length === limit) {
        this.#isWoken = true;
        return 0;
      }
    } catch (error) {
      this.#isUncertain = true;
      throw error;
    } finally {
      this.#claiming.delete(token);
      this.#cancelledMeanwhile.clear();
    }
    if (this.#deps.is_capped || !(await queue.isMoreReady(scope?.()))) return POLL_MS[bus.poll_rate];
    this.#isWoken = true;
    return SKIP_LOCKED_MS;
  }

  get #freeSlots(): number {
    return this.#deps.concurrency - this.#active.size;
  }

  #wake(): void {
    this.#isWoken = true;
    this.#loop.wake();
  }

  /** Without a free slot here, another process may take them. */
  #runsReady(): void {
    if (this.#freeSlots > 0 || this.#deps.auto) this.#wake();
    else this.#deps.bus.emit('runs.offered', false);
  }

  /** Beyond the floor of `auto` it must not be woken: it would offer them to others in turn, and these to it. */
  #runsOffered(is_first: boolean): void {
    const isFree = this.#freeSlots > 0;
    if (!isFree && !this.#deps.auto) return;
    if (is_first && isFree) this.#wake();
    else this.#lookLater();
  }

  /** After a random delay, because idle workers must not all claim at once. */
  #lookLater(): void {
    this.#secondLook ??= after(MIN_LOOK_MS + systemRandom() * (MAX_LOOK_MS - MIN_LOOK_MS), () => {
      this.#secondLook = undefined;
      this.#loop.wake();
    });
  }

  /** The cancel of a run that is being claimed may be known here before the claim is. */
  #runCancelled(run_id: string): void {
    if (this.#active.has(run_id)) this.#reconcileSoon();
    else if (this.#claiming.size > 0) this.#cancelledMeanwhile.add(run_id);
  }

  /** A cancel or a wake-up may be lost. */
  #reconnected(): void {
    this.#wake();
    this.#reconcileSoon();
  }

  /**
   * Reconciles the executing runs with the leases in storage: a notification, or the reply to a commit, may be lost. A
   * lease that is unknown here is an orphan of a claim whose reply was lost. A run that could not be requeued is tried
   * once more.
   */
  async reconcileLeases(): Promise<void> {
    this.#reconciled_at = systemClock.monotonic();
    const known = new Set([...this.#claiming, ...this.#activeKeys()]);
    const active = [...this.#active.values()];
    const leases = await this.#heldLeases();
    const held = new Map(leases.map((lease) => [leaseKey(lease), lease]));
    for (const { claimed, stop } of active) {
      const lease = held.get(leaseKey(claimed.lease));
      if (!lease) stop.abort(new StopReason('lease lost'));
      else if (lease.cancel_action) stop.abort(new StopReason('cancelled', lease.error));
    }
    for (const each of [...this.#claiming, ...this.#activeKeys()]) known.add(each);
    await this.#orphans.recover(leases, (lease) => known.has(leaseKey(lease)) || known.has(lease.token));
  }

  async #heldLeases(): Promise<HeldLease[]> {
    const { queue, worker_id } = this.#deps;
    this.#isUncertain = false;
    try {
      return await queue.heldLeases(worker_id);
    } catch (error) {
      // The outage that loses the reply to a claim often loses this one too.
      this.#isUncertain = true;
      throw error;
    }
  }

  /** Whether storage may hold leases of this process; a claim whose reply was lost is found twice a minute. */
  get mayHoldLeases(): boolean {
    if (this.#deps.concurrency === 0 && !this.#deps.auto) return false;
    const held = this.#active.size + this.#claiming.size + this.#orphans.size;
    return held > 0 || this.#isUncertain || systemClock.monotonic() - this.#reconciled_at > IDLE_RECONCILE_MS;
  }

  /** The lease of this process has ended, or is about to: whatever the database reports, no run may continue. */
  leaseEnded(): void {
    for (const { stop } of this.#active.values()) stop.abort(new StopReason('lease ended'));
  }

  /**
   * Graceful drain: claims nothing new, waits `grace_ms` for runs, then requeues the rest (engine §2, SIGTERM). With
   * `handOver`, another process can take the runs: each is requeued at its next checkpoint.
   */
  async stop(grace_ms: number, handOver = false): Promise<void> {
    if (handOver) {
      this.#handOver.abort();
      const runs = this.#active.size;
      if (runs > 0) this.#deps.logger.info('handing runs over at their next checkpoint', { runs });
    }
    await this.#loop.stop();
    {
      using _timer = after(grace_ms, () => {
        for (const { stop } of this.#active.values()) stop.abort(new StopReason('shutdown'));
      });
      await Promise.all([...this.#active.values()].map(({ done }) => done));
    }
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
    this.#secondLook?.[Symbol.dispose]();
  }

  /** Claims nothing new from now on; resolves when its runs have ended, or after `ms`. */
  async drain(ms: number): Promise<void> {
    await this.#loop.stop();
    const late = new AbortController();
    const ended = Promise.all([...this.#active.values()].map(({ done }) => done));
    await Promise.race([ended, sleep(ms, late.signal)]);
    late.abort();
  }

  #start(claimed: ClaimedRun): void {
    const { auto, attempts, attempt = runAttempt } = this.#deps;
    const { run_id } = claimed.lease;
    const stop = new AbortController();
    const onBegun = () => auto?.begun(run_id);
    auto?.claimed(run_id);
    const done = attempt(attempts, claimed, stop, this.#handOver.signal, onBegun)
      .catch((error: unknown) => this.#orphans.requeueBroken(claimed, error))
      .finally(() => {
        if (this.#active.get(run_id)?.stop === stop) this.#active.delete(run_id);
        onBegun();
        // Only if saturated: otherwise `run.ready` wakes the loop, and a further claim would waste a transaction.
        if (this.#saturated || this.#deps.is_capped) this.#wake();
        // An owner's next run may have to execute elsewhere.
        if (this.#deps.is_capped) this.#deps.bus.emit('runs.offered', false);
      });
    this.#active.set(run_id, { claimed, stop, done });
  }

  #activeKeys(): string[] {
    return [...this.#active.values()].map(({ claimed }) => leaseKey(claimed.lease));
  }

  #reconcileSoon(): void {
    const { logger } = this.#deps;
    // After a failure the next heartbeat reconciles again.
    this.reconcileLeases().catch((error: unknown) => logger.warn('cannot read the leases', { error }));
  }
}

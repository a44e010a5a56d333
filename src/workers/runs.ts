import type { Ids } from '../core/ids.ts';
import type { Logger } from '../core/logger.ts';
import { after } from '../core/timers.ts';
import type { EventBus } from '../events/bus.ts';
import type { ClaimedRun } from '../storage/queue/claim.ts';
import type { FailurePolicy } from '../storage/queue/end-attempt.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { HeldLease } from '../storage/queue/workers.ts';
import type { Lease } from '../storage/runs/lease.ts';
import { StopReason } from './attempt.ts';
import { Loop } from './loop.ts';

/** Poll interval, ms: the latency that a lost wake-up costs. */
const SAFETY_POLL_MS = 1000;
/** Runs per claim. */
const CLAIM_BATCH = 10;
/** Delay before the next claim when other transactions held the locks of ready runs (`skip locked`), ms. */
const SKIP_LOCKED_MS = 10;
/** Delay before a broken attempt is retried, ms; doubled for each loss after the second. */
const RETRY_MS = 1000;

export interface RunWorkerDeps {
  readonly queue: RunQueue;
  readonly bus: EventBus;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly worker_id: string;
  /** Concurrent runs. */
  readonly concurrency: number;
  /** Retry limit of runs whose attempts break. */
  readonly failure: FailurePolicy;
  /** Executes one claimed run to its end. */
  readonly attempt: (claimed: ClaimedRun, stop: AbortController) => Promise<void>;
}

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
  /** Leases of broken attempts that could not be requeued, by token. */
  readonly #unreleased = new Map<string, Lease>();
  /** The last tick found no free slot: more runs may be ready. */
  #saturated = false;
  readonly #loop: Loop;
  #subscriptions: Disposable[] = [];

  constructor(deps: RunWorkerDeps) {
    this.#deps = deps;
    this.#loop = new Loop({ name: 'run worker', tick: () => this.tick(), logger: deps.logger });
  }

  /** Runs that execute in this process. */
  get active(): number {
    return this.#active.size;
  }

  start(): void {
    const { bus } = this.#deps;
    this.#subscriptions = [
      bus.on('run.ready', () => this.#loop.wake()),
      bus.on('run.cancelled', (run_id) => this.#checkRun(run_id)),
    ];
    this.#loop.start();
  }

  /** Claims as many runs as there are free slots. */
  async tick(): Promise<number> {
    const { queue, ids, worker_id, concurrency } = this.#deps;
    const limit = Math.min(concurrency - this.#active.size, CLAIM_BATCH);
    this.#saturated = limit <= 0;
    if (this.#saturated) return SAFETY_POLL_MS;
    const token = ids.uuid4();
    this.#claiming.add(token);
    try {
      const claimed = await queue.claim({ worker_id, token, limit });
      for (const each of claimed) this.#start(each);
      if (claimed.length === limit) return 0;
    } finally {
      this.#claiming.delete(token);
    }
    return (await queue.isMoreReady()) ? SKIP_LOCKED_MS : SAFETY_POLL_MS;
  }

  /**
   * Reconciles the executing runs with the leases in storage: a notification, or the reply to a commit, may be lost. A
   * lease that is unknown here is an orphan of a claim whose reply was lost. A run that could not be requeued is tried
   * once more.
   */
  async reconcileLeases(): Promise<void> {
    const known = new Set([...this.#claiming, ...this.#activeTokens()]);
    const active = [...this.#active.values()];
    const leases = await this.#deps.queue.heldLeases(this.#deps.worker_id);
    const byToken = new Map(leases.map((lease) => [lease.run_id + lease.token, lease]));
    for (const { claimed, stop } of active) {
      const lease = byToken.get(claimed.lease.run_id + claimed.lease.token);
      if (!lease) stop.abort(new StopReason('lease lost'));
      else if (lease.cancel_action) stop.abort(new StopReason('cancelled', lease.error));
    }
    for (const token of [...this.#claiming, ...this.#activeTokens()]) known.add(token);
    for (const lease of leases) if (!known.has(lease.token)) await this.#recoverOrphan(lease);
    const tokens = new Set(leases.map(({ token }) => token));
    for (const token of this.#unreleased.keys()) if (!tokens.has(token)) this.#unreleased.delete(token);
  }

  /** Graceful drain: claims nothing new, waits `grace_ms` for runs, then requeues the rest (ENGINE §2, SIGTERM). */
  async stop(grace_ms: number): Promise<void> {
    await this.#loop.stop();
    {
      using _timer = after(grace_ms, () => {
        for (const { stop } of this.#active.values()) stop.abort(new StopReason('shutdown'));
      });
      await Promise.all([...this.#active.values()].map(({ done }) => done));
    }
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }

  #start(claimed: ClaimedRun): void {
    const { run_id } = claimed.lease;
    const stop = new AbortController();
    const done = this.#deps
      .attempt(claimed, stop)
      .catch((error: unknown) => this.#requeueBroken(claimed, error))
      .finally(() => {
        if (this.#active.get(run_id)?.stop === stop) this.#active.delete(run_id);
        // Only if saturated: otherwise `run.ready` wakes the loop, and a further claim would waste a transaction.
        if (this.#saturated) this.#loop.wake();
      });
    this.#active.set(run_id, { claimed, stop, done });
  }

  /** All runs of one claim share its token. */
  #activeTokens(): string[] {
    return [...this.#active.values()].map(({ claimed }) => claimed.lease.token);
  }

  /** Under the thread's lock: an attempt that has ended in the meantime is left alone. */
  async #recoverOrphan(lease: HeldLease): Promise<void> {
    const { queue, bus, logger, worker_id } = this.#deps;
    const { run_id, thread_id, token } = lease;
    const broken = this.#unreleased.get(token);
    try {
      const requeued = broken
        ? await this.#requeue(broken)
        : await queue.requeueUnknown({ worker_id, run_id, thread_id, token });
      this.#unreleased.delete(token);
      if (!requeued) return;
      logger.warn('recovered an orphaned run', { run_id, thread_id });
      bus.updated(run_id);
      bus.emit('schedule.changed');
    } catch (error) {
      logger.error('cannot recover an orphaned run, retrying', { run_id, error });
    }
  }

  /** An attempt that could not even be finalized must not block its thread for good: the retry limit ends the run. */
  async #requeueBroken({ lease }: ClaimedRun, error: unknown): Promise<void> {
    const { bus, logger } = this.#deps;
    const { run_id, attempt } = lease;
    logger.error('an attempt failed unexpectedly', { run_id, attempt, error });
    try {
      await this.#requeue(lease);
      bus.updated(run_id);
      bus.emit('schedule.changed');
    } catch (refused) {
      this.#unreleased.set(lease.token, lease);
      logger.error('cannot release a failed attempt, retrying', { run_id, error: refused });
    }
  }

  /** Ends a run that was cancelled in the meantime. */
  async #requeue(lease: Lease): Promise<unknown> {
    const { queue, worker_id, failure } = this.#deps;
    const batch = { frames: [], writes: [] };
    if (await queue.requeue(lease, { charge: true, delay_ms: RETRY_MS, batch, failure })) return lease;
    return queue.requeueUnknown({ worker_id, ...lease });
  }

  #checkRun(run_id: string): void {
    if (!this.#active.has(run_id)) return;
    this.reconcileLeases().catch((error: unknown) => {
      // The next heartbeat reconciles again.
      this.#deps.logger.warn('cannot read the leases', { error });
    });
  }
}

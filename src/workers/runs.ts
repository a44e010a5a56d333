import type { Ids } from '../core/ids.ts';
import type { Logger } from '../core/logger.ts';
import { after } from '../core/timers.ts';
import type { EventBus } from '../events/bus.ts';
import type { ClaimedRun } from '../storage/queue/claim.ts';
import type { FailureRules } from '../storage/queue/end-attempt.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { Standing } from '../storage/queue/workers.ts';
import type { Lease } from '../storage/runs/lease.ts';
import { Loop } from './loop.ts';
import { StopReason } from './stop-reason.ts';

/** A lost wake-up costs this much, ms. */
const SAFETY_POLL_MS = 1000;
/** Runs taken by one claim. */
const CLAIM_AT_ONCE = 10;
/** Before another look for runs whose locks somebody held, ms. */
const PASSED_OVER_MS = 10;
/** Before a run is tried again whose attempt broke, ms; doubled for each loss after the second. */
const RETRY_MS = 1000;

export interface RunWorkerDeps {
  readonly queue: RunQueue;
  readonly bus: EventBus;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly worker_id: string;
  /** Runs at once. */
  readonly concurrency: number;
  /** When a run whose attempts break ends. */
  readonly failure: FailureRules;
  /** Executes one claimed run to its end. */
  readonly attempt: (claimed: ClaimedRun, stop: AbortController) => Promise<void>;
}

interface Active {
  readonly claimed: ClaimedRun;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/** Takes runs from the queue as slots are free, and stops those that were cancelled or lost. */
export class RunWorker {
  readonly #deps: RunWorkerDeps;
  readonly #active = new Map<string, Active>();
  /** Tokens of claims whose answer has not come yet. */
  readonly #claiming = new Set<string>();
  /** Leases of attempts that broke and could not be given back, by token. */
  readonly #broken = new Map<string, Lease>();
  /** The last look at the queue found no free slot: there may be more to take. */
  #full = false;
  readonly #loop: Loop;
  #subscriptions: Disposable[] = [];

  constructor(deps: RunWorkerDeps) {
    this.#deps = deps;
    this.#loop = new Loop({ name: 'run worker', tick: () => this.tick(), logger: deps.logger });
  }

  /** Runs that execute here now. */
  get active(): number {
    return this.#active.size;
  }

  start(): void {
    const { bus } = this.#deps;
    this.#subscriptions = [
      bus.onWake(() => this.#loop.poke()),
      bus.onControl((run_id) => this.#checkOne(run_id)),
    ];
    this.#loop.start();
  }

  /** Claims what fits into the free slots. */
  async tick(): Promise<number> {
    const { queue, ids, worker_id, concurrency } = this.#deps;
    const limit = Math.min(concurrency - this.#active.size, CLAIM_AT_ONCE);
    this.#full = limit <= 0;
    if (this.#full) return SAFETY_POLL_MS;
    const token = ids.uuid4();
    this.#claiming.add(token);
    try {
      const claimed = await queue.claim({ worker_id, token, limit });
      for (const each of claimed) this.#begin(each);
      if (claimed.length === limit) return 0;
    } finally {
      this.#claiming.delete(token);
    }
    return (await queue.isMoreReady()) ? PASSED_OVER_MS : SAFETY_POLL_MS;
  }

  /**
   * Compares what executes here with the leases in storage: for messages that were lost, and for answers. A lease that
   * nobody here holds was claimed by a commit whose answer never came; a run that could not be given back is tried once
   * more.
   */
  async check(): Promise<void> {
    const known = new Set([...this.#claiming, ...this.#tokens()]);
    const begun = [...this.#active.values()];
    const held = await this.#deps.queue.standings(this.#deps.worker_id);
    const byToken = new Map(held.map((standing) => [standing.run_id + standing.token, standing]));
    for (const { claimed, stop } of begun) {
      const standing = byToken.get(claimed.lease.run_id + claimed.lease.token);
      if (!standing) stop.abort(new StopReason('lease lost'));
      else if (standing.cancel_action) stop.abort(new StopReason('cancelled', standing.error));
    }
    for (const token of [...this.#claiming, ...this.#tokens()]) known.add(token);
    for (const standing of held) if (!known.has(standing.token)) await this.#reclaim(standing);
    const tokens = new Set(held.map(({ token }) => token));
    for (const token of this.#broken.keys()) if (!tokens.has(token)) this.#broken.delete(token);
  }

  /** Takes nothing more, waits `grace_ms` for what executes, then releases the rest at once (ENGINE §2, SIGTERM). */
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

  #begin(claimed: ClaimedRun): void {
    const { run_id } = claimed.lease;
    const stop = new AbortController();
    const done = this.#deps
      .attempt(claimed, stop)
      .catch((error: unknown) => this.#giveBack(claimed, error))
      .finally(() => {
        if (this.#active.get(run_id)?.stop === stop) this.#active.delete(run_id);
        // Else every run that comes wakes the loop, and looking again would cost a transaction for nothing.
        if (this.#full) this.#loop.poke();
      });
    this.#active.set(run_id, { claimed, stop, done });
  }

  /** Of a claim all runs have the same. */
  #tokens(): string[] {
    return [...this.#active.values()].map(({ claimed }) => claimed.lease.token);
  }

  /** Under the lock of its thread: an attempt that has ended meanwhile is left alone. */
  async #reclaim(standing: Standing): Promise<void> {
    const { queue, bus, logger, worker_id } = this.#deps;
    const { run_id, thread_id, token } = standing;
    const broken = this.#broken.get(token);
    try {
      const given = broken
        ? await this.#release(broken)
        : await queue.releaseUnknown({ worker_id, run_id, thread_id, token });
      this.#broken.delete(token);
      if (!given) return;
      logger.warn('recovered an orphaned run', { run_id, thread_id });
      bus.hint(run_id);
      bus.scheduled();
    } catch (error) {
      logger.error('cannot recover an orphaned run, retrying', { run_id, error });
    }
  }

  /** An attempt that could not even be ended must not hold its thread for good: after some of these the run ends. */
  async #giveBack({ lease }: ClaimedRun, error: unknown): Promise<void> {
    const { bus, logger } = this.#deps;
    const { run_id, attempt } = lease;
    logger.error('an attempt failed unexpectedly', { run_id, attempt, error });
    try {
      await this.#release(lease);
      bus.hint(run_id);
      bus.scheduled();
    } catch (refused) {
      this.#broken.set(lease.token, lease);
      logger.error('cannot release a failed attempt, retrying', { run_id, error: refused });
    }
  }

  /** Of a run that was cancelled meanwhile this is the end. */
  async #release(lease: Lease): Promise<unknown> {
    const { queue, worker_id, failure } = this.#deps;
    const batch = { frames: [], writes: [] };
    if (await queue.release(lease, { charge: true, delay_ms: RETRY_MS, batch, failure })) return lease;
    return queue.releaseUnknown({ worker_id, ...lease });
  }

  #checkOne(run_id: string): void {
    if (!this.#active.has(run_id)) return;
    this.check().catch((error: unknown) => {
      // The heartbeat looks again.
      this.#deps.logger.warn('cannot read the leases', { error });
    });
  }
}

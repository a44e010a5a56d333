import type { Ids } from '../core/ids.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { ClaimedRun } from '../storage/queue/claim.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import { Loop } from './loop.ts';
import { StopReason } from './stop-reason.ts';

/** A lost wake-up costs this much, ms. */
const SAFETY_POLL_MS = 1000;
/** Runs taken by one claim. */
const CLAIM_AT_ONCE = 10;
/** The longest wait before a run is tried again that could not be ended, ms. */
const LONGEST_BACKOFF_MS = 10 * 60_000;

export interface RunWorkerDeps {
  readonly queue: RunQueue;
  readonly bus: EventBus;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly worker_id: string;
  /** Runs at once. */
  readonly concurrency: number;
  /** Executes one claimed run to its end; never throws. */
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
    const claimed = await queue.claim({ worker_id, token: ids.uuid4(), limit });
    for (const each of claimed) this.#begin(each);
    return claimed.length === limit ? 0 : SAFETY_POLL_MS;
  }

  /** Compares what executes here with the leases in storage, for messages that were lost. */
  async check(): Promise<void> {
    if (this.#active.size === 0) return;
    const begun = [...this.#active.values()];
    const held = await this.#deps.queue.standings(this.#deps.worker_id);
    const byToken = new Map(held.map((standing) => [standing.run_id + standing.token, standing]));
    for (const { claimed, stop } of begun) {
      const standing = byToken.get(claimed.lease.run_id + claimed.lease.token);
      if (!standing) stop.abort(new StopReason('lease lost'));
      else if (standing.cancel_action) stop.abort(new StopReason('cancelled', standing.error));
    }
  }

  /** Takes nothing more, waits `grace_ms` for what executes, then releases the rest at once (ENGINE §2, SIGTERM). */
  async stop(grace_ms: number): Promise<void> {
    await this.#loop.stop();
    const timer = setTimeout(() => {
      for (const { stop } of this.#active.values()) stop.abort(new StopReason('shutdown'));
    }, grace_ms);
    await Promise.all([...this.#active.values()].map(({ done }) => done));
    clearTimeout(timer);
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

  /** An attempt that could not even be ended must not hold its thread for good: it is tried again, later each time. */
  async #giveBack({ lease }: ClaimedRun, error: unknown): Promise<void> {
    const { queue, bus, logger } = this.#deps;
    const { run_id, attempt } = lease;
    logger.error('an attempt broke', { run_id, attempt, error });
    const delay_ms = Math.min(1000 * 2 ** attempt, LONGEST_BACKOFF_MS);
    try {
      await queue.release(lease, { charge: true, delay_ms, batch: { frames: [], writes: [] } });
      bus.scheduled();
    } catch (refused) {
      logger.error('a broken attempt cannot be given back before the next start', { run_id, error: refused });
    }
  }

  #checkOne(run_id: string): void {
    if (!this.#active.has(run_id)) return;
    this.check().catch((error: unknown) => {
      // The heartbeat looks again.
      this.#deps.logger.warn('cannot look at the leases', { error });
    });
  }
}

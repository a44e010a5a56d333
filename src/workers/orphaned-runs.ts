import type { ClaimedRun } from '../storage/queue/claim.ts';
import type { AttemptEndResult } from '../storage/queue/end-attempt.ts';
import type { RunLogFields } from '../storage/queue/run-log-fields.ts';
import type { HeldLease } from '../storage/queue/workers.ts';
import { emptyBatch } from '../storage/runs/batch.ts';
import { type Lease, leaseKey } from '../storage/runs/lease.ts';
import { announceReleased } from './released-run.ts';
import { runFields } from './run-log.ts';
import type { RunWorkerDeps } from './run-worker-deps.ts';

/** Delay before a broken attempt is retried, ms; doubled for each loss after the second. */
const RETRY_MS = 1000;

/** Returns the runs to the queue whose leases this process holds without executing them. */
export class OrphanedRuns {
  readonly #deps: RunWorkerDeps;
  /** Leases of broken attempts that could not be requeued, by `leaseKey`. */
  readonly #unreleased = new Map<string, Lease>();

  constructor(deps: RunWorkerDeps) {
    this.#deps = deps;
  }

  /** How many leases are known to be orphaned. */
  get size(): number {
    return this.#unreleased.size;
  }

  /** An attempt that could not even be finalized must not block its thread for good: the retry limit ends the run. */
  async requeueBroken(claimed: ClaimedRun, error: unknown): Promise<void> {
    const { logger, attempts } = this.#deps;
    const { lease } = claimed;
    const fields = runFields({ claimed, kwargs: claimed.run.kwargs });
    logger.error('an attempt failed unexpectedly', { ...fields, error });
    try {
      const released = await this.#requeue(lease);
      if (released) await announceReleased(attempts, lease, released);
    } catch (refused) {
      this.#unreleased.set(leaseKey(lease), lease);
      logger.error('cannot release a failed attempt, retrying', { ...fields, error: refused });
    }
  }

  /**
   * Recovers those of the leases in storage that `isKnown` does not know: the reply to their claim was lost, or they could
   * not be requeued before.
   */
  async recover(held: readonly HeldLease[], isKnown: (lease: HeldLease) => boolean): Promise<void> {
    const orphans = held.filter((lease) => !isKnown(lease));
    const fields = await this.#deps.queue.logFields(orphans.map(({ run_id }) => run_id));
    for (const orphan of orphans) await this.#recover(orphan, fields.get(orphan.run_id));
    const keys = new Set(held.map(leaseKey));
    for (const key of this.#unreleased.keys()) if (!keys.has(key)) this.#unreleased.delete(key);
  }

  /** Under the thread's lock: an attempt that has ended in the meantime is left alone. */
  async #recover(lease: HeldLease, fields?: RunLogFields): Promise<void> {
    const { queue, logger, worker_id, attempts } = this.#deps;
    const { run_id, thread_id, token } = lease;
    const broken = this.#unreleased.get(leaseKey(lease));
    try {
      const unknown = { worker_id, run_id, thread_id, token };
      const released = broken ? await this.#requeue(broken) : await queue.requeueUnknown(unknown);
      this.#unreleased.delete(leaseKey(lease));
      if (!released) return;
      logger.warn('recovered an orphaned run', { run_id, thread_id, ...fields });
      await announceReleased(attempts, lease, released);
    } catch (error) {
      logger.error('cannot recover an orphaned run, retrying', { run_id, thread_id, ...fields, error });
    }
  }

  /** Ends a run that was cancelled in the meantime. */
  async #requeue(lease: Lease): Promise<AttemptEndResult | undefined> {
    const { queue, worker_id, failure } = this.#deps;
    const failed = { charge: true, delay_ms: RETRY_MS, batch: emptyBatch(), failure };
    return (await queue.requeue(lease, failed)) ?? queue.requeueUnknown({ worker_id, ...lease });
  }
}

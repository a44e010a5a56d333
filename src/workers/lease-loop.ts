import type { Logger } from '../core/logger.ts';
import { every, type Timer } from '../core/timers.ts';
import { heartbeatMs, type WorkerLease } from './heartbeat.ts';
import { Loop } from './loop.ts';
import type { RunWorker } from './runs.ts';
import type { WebhookDispatcher } from './webhooks.ts';

/** Checks per heartbeat of whether the lease lasts: it needs no database. */
const CHECKS_PER_BEAT = 10;

/**
 * Stops the runs and deliveries of this process when its lease ends, and compares them with the leases in storage at
 * each heartbeat: a cancel, or the answer to a commit, may be lost.
 */
export function leaseLoop({
  lease,
  runs,
  dispatcher,
  lease_ms,
  logger,
}: {
  lease: WorkerLease;
  runs: Pick<RunWorker, 'leaseEnded' | 'reconcileLeases' | 'mayHoldLeases' | 'active'>;
  dispatcher?: Pick<WebhookDispatcher, 'leaseEnded'> | undefined;
  lease_ms: number;
  logger: Logger;
}) {
  const interval_ms = heartbeatMs(lease_ms);
  let lapses = 0;
  let timer: Timer | undefined;
  const loop = new Loop({
    name: 'leases',
    logger,
    max_backoff_ms: interval_ms / 2,
    async tick() {
      if (runs.mayHoldLeases) await runs.reconcileLeases();
      return interval_ms;
    },
  });

  function check(): void {
    if (!lease.isHeld() && runs.active > 0) {
      logger.error('the lease of this process is expiring: its runs stop, and continue in another process');
      runs.leaseEnded();
    }
    if (!lease.isHeld()) dispatcher?.leaseEnded();
    if (lease.lapses === lapses) return;
    lapses = lease.lapses;
    // Others may have taken runs while this process, or its line to the database, stood still.
    loop.wake();
  }

  return {
    start(): void {
      timer = every(interval_ms / CHECKS_PER_BEAT, check).unref();
      loop.start();
    },
    async stop(): Promise<void> {
      timer?.[Symbol.dispose]();
      await loop.stop();
    },
  };
}

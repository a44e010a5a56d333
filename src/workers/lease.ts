import { type Clock, systemClock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import { every, type Timer } from '../core/timers.ts';
import type { Worker } from '../storage/queue/workers.ts';
import { Loop } from './loop.ts';
import type { RunWorker } from './runs.ts';
import type { WebhookDispatcher } from './webhooks.ts';

/** Heartbeats per lease: three may be lost. */
const BEATS_PER_LEASE = 4;

/** Heartbeat interval of a worker, ms: 5 s for a lease of 20 s. */
export function heartbeatMs(lease_ms: number): number {
  return lease_ms / BEATS_PER_LEASE;
}

/** The lease of this process on all runs that it executes, kept alive by heartbeats. */
export interface WorkerLease {
  /** Renews it from now on; the first renewal has happened. */
  start(): void;
  /** Resolves when no further renewal is under way. */
  stop(): Promise<void>;
  /** False when it has ended, or is about to: what it protects must stop. */
  isHeld(): boolean;
  /** False when the heartbeat itself hangs, whatever the database does. */
  isBeating(): boolean;
  /** How long, ms, a search by a heartbeat still counts that found nothing held by dead processes; 0 without one. */
  nothingLostFor(): number;
  /** How often it ended and was renewed later: meanwhile other processes may have taken runs. */
  readonly lapses: number;
  /** How often it was renewed more than a heartbeat interval late. */
  readonly late_renewals: number;
}

/** Whether a renewal that comes this long after the one before is late: by more than a heartbeat interval. */
export function isLateRenewal(since_last_ms: number, interval_ms: number): boolean {
  return since_last_ms > 2 * interval_ms;
}

export interface LeaseOptions {
  readonly worker: Worker;
  /** Runs that it may execute at the same time, as of now. */
  readonly slots: () => number;
  readonly lease_ms: number;
  readonly logger: Logger;
}

/** Renews from the event loop: for the only process on a database, whose runs no other process can claim. */
export function loopLease(
  { heartbeat }: { heartbeat(worker: Worker, lease_ms: number): Promise<void> },
  { worker, slots, lease_ms, logger }: LeaseOptions,
  clock: Pick<Clock, 'monotonic'> = systemClock,
): WorkerLease {
  const interval_ms = heartbeatMs(lease_ms);
  let late_renewals = 0;
  let renewed_at: number | undefined;
  const loop = new Loop({
    name: 'heartbeat',
    logger,
    max_backoff_ms: interval_ms / 2,
    async tick() {
      await heartbeat({ ...worker, slots: slots() }, lease_ms);
      const now = clock.monotonic();
      if (renewed_at !== undefined && isLateRenewal(now - renewed_at, interval_ms)) late_renewals += 1;
      renewed_at = now;
      return interval_ms;
    },
  });
  return {
    start: () => loop.start(),
    stop: () => loop.stop(),
    isHeld: () => true,
    isBeating: () => true,
    nothingLostFor: () => 0,
    lapses: 0,
    get late_renewals() {
      return late_renewals;
    },
  };
}

/** Checks per heartbeat of whether the lease lasts: it needs no database. */
const CHECKS_PER_BEAT = 10;

/**
 * Stops the runs and deliveries of this process when its lease ends, and compares them with the leases in storage at
 * each heartbeat: a cancel, or the answer to a commit, may be lost.
 */
export function leaseGuard({
  lease,
  runs,
  dispatcher,
  lease_ms,
  logger,
}: {
  lease: WorkerLease;
  runs: RunWorker;
  dispatcher?: WebhookDispatcher | undefined;
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

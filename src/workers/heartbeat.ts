import type { Logger } from '../core/logger.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { Worker } from '../storage/queue/workers.ts';
import { Loop } from './loop.ts';

/** Heartbeat interval of a worker, ms. */
export const HEARTBEAT_MS = 5_000;
/** Lease duration, ms: a worker without a heartbeat for this long counts as dead. */
export const LEASE_MS = 20_000;

/** Renews the leases of this process's runs, and checks in the same tick for cancelled ones (ENGINE §2). */
export function heartbeatLoop({
  queue,
  worker,
  check,
  logger,
}: {
  queue: RunQueue;
  worker: Worker;
  check: () => Promise<void>;
  logger: Logger;
}): Loop {
  return new Loop({
    name: 'heartbeat',
    logger,
    // After an outage, the lease must be renewed before other processes reap this worker.
    max_backoff_ms: HEARTBEAT_MS / 2,
    async tick() {
      await queue.heartbeat(worker, LEASE_MS);
      await check();
      return HEARTBEAT_MS;
    },
  });
}

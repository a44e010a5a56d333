import type { Logger } from '../core/logger.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { Worker } from '../storage/queue/workers.ts';
import { Loop } from './loop.ts';

/** How often a worker says that it lives, ms. */
export const HEARTBEAT_MS = 5_000;
/** How long it is believed, ms. */
export const LEASE_MS = 20_000;

/** Keeps the leases of this process's runs, and looks on the way whether any was cancelled (ENGINE §2). */
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
    // When the database is back, others must hear of it before they take this process for gone.
    max_backoff_ms: HEARTBEAT_MS / 2,
    async tick() {
      await queue.heartbeat(worker, LEASE_MS);
      await check();
      return HEARTBEAT_MS;
    },
  });
}

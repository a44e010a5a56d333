import { type Batch, writeBatch } from '../attempt-writes.ts';
import type { Db } from '../db.ts';
import { sql } from '../sql.ts';
import { nowPlus } from '../time.ts';
import type { Lease } from './lease.ts';
import type { RetryReason } from './standing.ts';

export interface Release {
  /** False does not count the attempt: the server is stopping, the run did nothing wrong (ENGINE §2). */
  readonly charge: boolean;
  /** How long before a worker may take it again, ms. */
  readonly delay_ms: number;
  /** What the attempt produced and storage does not hold yet. */
  readonly batch: Batch;
}

/** Gives a run back unfinished: it keeps the head of its thread. False when the lease is lost or it was cancelled. */
export function release(db: Db, lease: Lease, { charge, delay_ms, batch }: Release): Promise<boolean> {
  return db.transaction('promised', async (tx) => {
    const refund = charge ? 0 : 1;
    const reason: RetryReason = charge ? 'storage failed' : 'server stopped';
    const released = await tx.run(sql`
      update run_queue set state = 'ready', lease_token = null, worker_id = null, attempt = attempt - ${refund},
        not_before = ${nowPlus(delay_ms)}, retry_reason = ${reason}
      where run_id = ${lease.run_id} and lease_token = ${lease.token} and cancel_action is null`);
    if (released === 0) return false;
    await tx.run(sql`update runs set status = 'pending' where run_id = ${lease.run_id}`);
    await writeBatch(tx, lease.run_id, batch);
    return true;
  });
}

import type { Db } from '../db.ts';
import { sql } from '../sql.ts';
import { nowPlus } from '../time.ts';
import type { Lease } from './lease.ts';

/**
 * Gives a run back unfinished: it keeps the head of its thread and any worker may take it after `delay_ms`.
 * `charge` false does not count the attempt: the server is stopping, the run did nothing wrong (ENGINE §2).
 * False when the lease is lost.
 */
export function release(db: Db, lease: Lease, charge: boolean, delay_ms: number): Promise<boolean> {
  return db.transaction('promised', async (tx) => {
    const refund = charge ? 0 : 1;
    const released = await tx.run(sql`
      update run_queue set state = 'ready', lease_token = null, worker_id = null, attempt = attempt - ${refund},
        not_before = ${nowPlus(delay_ms)}
      where run_id = ${lease.run_id} and lease_token = ${lease.token} and cancel_action is null`);
    if (released === 0) return false;
    await tx.run(
      sql`update runs set status = 'pending', attempt = attempt - ${refund} where run_id = ${lease.run_id}`,
    );
    return true;
  });
}

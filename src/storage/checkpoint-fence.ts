import type { Transaction } from './db.ts';
import { keepLease, type Lease } from './queue/lease.ts';
import { lockThread } from './queue/thread-lock.ts';
import { sql } from './sql.ts';

/**
 * What must be true for a checkpoint to be written, in the same transaction: an attempt still has its lease
 * (invariant 2), or, for a change from outside of runs, no run of the thread is pending or running.
 */
export type Fence = { readonly lease: Lease } | { readonly idle_thread_id: string };

/** Stays true to the end of the transaction. */
export async function holds(tx: Transaction, fence: Fence): Promise<boolean> {
  if ('lease' in fence) return keepLease(tx, fence.lease);
  const { idle_thread_id } = fence;
  await lockThread(tx, idle_thread_id);
  const idle = await tx.get(sql`select 1 from threads where thread_id = ${idle_thread_id}
    and not exists (select 1 from run_queue where thread_id = ${idle_thread_id})`);
  return idle !== undefined;
}

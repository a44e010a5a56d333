import type { Db } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { chargeUncounted } from '../runs/budgets.ts';
import type { Lease } from '../runs/lease.ts';
import { withThread } from '../runs/thread-lock.ts';
import { chargeCalls } from '../runs/usage.ts';
import type { Batch } from '../runs/write-buffer.ts';

/**
 * Charges what a run used that was deleted while it executed: nobody evades a budget by deleting. Nothing else of the
 * batch is stored, and nothing at all while the run exists, whose writes need a lease. Not idempotent: to be called once,
 * and only with a batch that is not stored.
 */
export function chargeDeleted(db: Db, { run_id, thread_id }: Lease, batch: Batch): Promise<void> {
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    const known = await tx.get(sql`
      select 1 from runs where run_id = ${run_id} union all select 1 from run_queue where run_id = ${run_id}`);
    if (known) return;
    const calls = batch.steps.filter(({ kind }) => kind === 'model');
    if (batch.account && calls.length > 0) await chargeCalls(tx, run_id, batch.account, calls);
    if (!batch.budget) return;
    const { thread: _gone, ...others } = batch.budget.subjects;
    await chargeUncounted(tx, thread.exists ? batch.budget : { ...batch.budget, subjects: others });
  });
}

import type { Db } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import type { Batch } from '../runs/batch.ts';
import { chargeUncounted } from '../runs/budgets.ts';
import { heldHead, type Lease } from '../runs/lease.ts';
import { insertSteps } from '../runs/steps.ts';
import { withThread } from '../runs/thread-lock.ts';
import { chargeCalls } from '../runs/usage.ts';

/**
 * Charges what an attempt used that lost its run: it was deleted while it executed, by which nobody evades a budget, or
 * another process has taken it. Usage is the sum of the steps, so those of a run that exists are stored, as steps of this
 * attempt. Nothing else of the batch is, and nothing at all while the lease holds, under which the attempt writes. Not
 * idempotent: to be called once, and only with a batch that is not stored.
 */
export function chargeLost(db: Db, lease: Lease, batch: Batch): Promise<void> {
  const { run_id, thread_id } = lease;
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    if (heldHead(lease, thread)) return;
    const isThere = await tx.get(sql`select 1 from runs where run_id = ${run_id}`);
    const calls = batch.steps.filter(({ kind }) => kind === 'model');
    if (isThere) await insertSteps(tx, lease, batch.steps, batch.account, false);
    else if (batch.account && calls.length > 0) await chargeCalls(tx, run_id, batch.account, calls);
    if (!batch.budget) return;
    const { thread: _gone, ...others } = batch.budget.subjects;
    await chargeUncounted(tx, thread.exists ? batch.budget : { ...batch.budget, subjects: others });
  });
}

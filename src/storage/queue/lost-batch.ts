import { sql } from '../../db/sql.ts';
import type { Batch } from '../runs/batch.ts';
import { heldHead, type Lease } from '../runs/lease.ts';
import { insertSteps, modelCalls } from '../runs/steps.ts';
import { withThread } from '../runs/thread-lock.ts';
import type { QueueContext } from './context.ts';

/**
 * Counts what an attempt has used after it lost its run: to another process, or because the run was deleted, which must not
 * be a way around a limit. Usage is the sum of the steps, so those of a run that exists are stored, as steps of this
 * attempt. Nothing else of the batch is, and nothing at all while the lease holds, under which the attempt writes. Not
 * idempotent: to be called once, and only with a batch that is not stored.
 */
export function countLost({ db, riders }: QueueContext, lease: Lease, batch: Batch): Promise<void> {
  const { run_id, thread_id } = lease;
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    if (heldHead(lease, thread)) return;
    const isThere = await tx.get(sql`select 1 from runs where run_id = ${run_id}`);
    const calls = isThere ? await insertSteps(tx, lease, batch.steps, false) : modelCalls(batch.steps);
    await riders.flushed(tx, { ...lease, calls, cargo: batch.cargo, is_lost: true });
  });
}

import { columns } from '../../db/columns.ts';
import type { Db } from '../../db/db.ts';
import { and, list, sql } from '../../db/sql.ts';
import { threadVisible, type Visibility } from '../access/visibility.ts';
import { deleteCheckpointsOfRun } from '../checkpoints/delete.ts';
import { deleteLogs } from '../runs/events.ts';
import { deleteStepsOfRuns } from '../runs/step-deletion.ts';
import { withThread } from '../runs/thread-lock.ts';
import { closeThreadLog } from '../runs/thread-log.ts';
import { deleteTemporaryThread } from '../threads/delete-temporary.ts';
import { promote } from './promote.ts';

export interface DeletedRun {
  readonly deleted: boolean;
  /** The run was pending or running. */
  readonly was_in_flight: boolean;
  /** Another run of the thread became ready. */
  readonly promoted: boolean;
}

/** Whether the thread's history loses or keeps what the run wrote. */
export type CheckpointDisposition = 'remove checkpoints' | 'keep checkpoints';

const OWNS_THREAD = columns('run_queue', 'owns_thread');

/**
 * Deletes a run in any state with its log; a worker that executes it loses its lease. The thread retains its values
 * (contract §2.3); one that the run created for itself is deleted too, as the end of the run would have done.
 */
export function deleteRun(
  db: Db,
  thread_id: string,
  run_id: string,
  checkpoints: CheckpointDisposition = 'remove checkpoints',
  visibility?: Visibility,
): Promise<DeletedRun> {
  const wanted = and([
    sql`run_id = ${run_id}`,
    sql`thread_id = ${thread_id}`,
    threadVisible('runs.thread_id', visibility),
  ]);
  return withThread(db, 'reclaim', thread_id, async (tx, thread) => {
    const found = thread.exists && (await tx.get(sql`select 1 from runs where ${wanted}`));
    if (!found) return { deleted: false, was_in_flight: false, promoted: false };
    await deleteStepsOfRuns(tx, thread_id, [run_id]);
    await tx.run(sql`delete from runs where run_id = ${run_id}`);
    const queued = await tx.get(sql`delete from run_queue where run_id = ${run_id} returning ${OWNS_THREAD}`);
    // Reserves a number for the end event that was never written, so that no two runs start at the same number.
    closeThreadLog(tx, thread_id, run_id, 1);
    await deleteLogs(tx, list([run_id]));
    if (checkpoints === 'remove checkpoints') await deleteCheckpointsOfRun(tx, thread_id, run_id);
    const removed = queued?.owns_thread === 1 && (await deleteTemporaryThread(tx, thread_id));
    const promoted = !removed && (await promote(tx, thread_id));
    return { deleted: true, was_in_flight: queued !== undefined, promoted };
  });
}

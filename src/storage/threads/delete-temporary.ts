import type { Transaction } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { deleteCheckpointsOfThread } from '../checkpoints/delete.ts';
import { keepRemovedLog, type RemovedRun } from '../runs/removed-logs.ts';

/**
 * Part of the end of a run that created its thread, once its queue row is gone: deletes the thread with its runs.
 * Returns false, and changes nothing, if another run of the thread is in flight: a client added it. Logs stay for their
 * current readers until they expire; of what the code printed, that of `printed`.
 */
export async function deleteTemporaryThread(
  tx: Transaction,
  thread_id: string,
  printed?: RemovedRun,
): Promise<boolean> {
  if (await tx.get(sql`select 1 from run_queue where thread_id = ${thread_id} limit 1`)) return false;
  if (printed) keepRemovedLog(tx, printed);
  deleteCheckpointsOfThread(tx, thread_id);
  tx.defer(sql`delete from step_texts where thread_id = ${thread_id}`);
  tx.defer(sql`delete from thread_log where thread_id = ${thread_id}`);
  tx.defer(sql`delete from threads where thread_id = ${thread_id}`);
  return true;
}

import type { Transaction } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { deleteCheckpointsOfThread } from '../checkpoints/delete.ts';
import { keepRemovedLog } from '../runs/removed-logs.ts';
import { keepRemovedRun, type RemovedRunEnd } from '../runs/removed-runs.ts';

/** What stays of a run that is deleted at its end. */
export interface Remains {
  readonly run_id: string;
  /** Undefined if the row of the run has it. */
  readonly end?: RemovedRunEnd | undefined;
  /** Log retention of the run, ms, if lines that it printed may be stored. */
  readonly log_retention_ms?: number | undefined;
}

/**
 * Part of the end of a run that created its thread, once its queue row is gone: deletes the thread with its runs.
 * Returns false, and changes nothing, if another run of the thread is in flight: a client added it. Logs stay for their
 * current readers until they expire. `remains`: what stays of the run; nothing of one that is rolled back or that a client deletes.
 */
export async function deleteTemporaryThread(
  tx: Transaction,
  thread_id: string,
  remains?: Remains,
): Promise<boolean> {
  if (await tx.get(sql`select 1 from run_queue where thread_id = ${thread_id} limit 1`)) return false;
  if (remains) keepRemains(tx, remains);
  deleteCheckpointsOfThread(tx, thread_id);
  tx.defer(sql`delete from step_texts where thread_id = ${thread_id}`);
  tx.defer(sql`delete from thread_log where thread_id = ${thread_id}`);
  tx.defer(sql`delete from threads where thread_id = ${thread_id}`);
  return true;
}

function keepRemains(tx: Transaction, { run_id, end, log_retention_ms }: Remains): void {
  keepRemovedRun(tx, run_id, end);
  if (log_retention_ms !== undefined) keepRemovedLog(tx, { run_id, log_retention_ms });
}

import { removeCheckpointsOfThread } from '../checkpoint-remove.ts';
import type { Transaction } from '../db.ts';
import { sql } from '../sql.ts';

/**
 * Part of the end of a run that made its thread for itself, once its place in the queue is gone: removes the thread with
 * its runs. False, and nothing happens, when another run of the thread waits or executes: a client put it there. Logs
 * stay for those who still read them, and go with their expiry.
 */
export async function removeTemporaryThread(tx: Transaction, thread_id: string): Promise<boolean> {
  if (await tx.get(sql`select 1 from run_queue where thread_id = ${thread_id} limit 1`)) return false;
  await removeCheckpointsOfThread(tx, thread_id);
  await tx.run(sql`delete from thread_log where thread_id = ${thread_id}`);
  await tx.run(sql`delete from threads where thread_id = ${thread_id}`);
  return true;
}

import { removeCheckpointsOfThread } from '../checkpoint-remove.ts';
import type { Transaction } from '../db.ts';
import { sql } from '../sql.ts';

/** A run of the thread waits or executes: a client may have put one on a thread that another run made for itself. */
export async function isInUse(tx: Transaction, thread_id: string): Promise<boolean> {
  return (await tx.get(sql`select 1 from run_queue where thread_id = ${thread_id} limit 1`)) !== undefined;
}

/** With its runs. Their logs stay for those who still read them, and go with their expiry. */
export async function removeTemporaryThread(tx: Transaction, thread_id: string): Promise<void> {
  await removeCheckpointsOfThread(tx, thread_id);
  await tx.run(sql`delete from threads where thread_id = ${thread_id}`);
}

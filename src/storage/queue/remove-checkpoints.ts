import type { Transaction } from '../db.ts';
import { sql } from '../sql.ts';

/** Takes back what a run wrote to its thread's history. Blobs that nothing names any more go with it. */
export async function removeCheckpointsOfRun(tx: Transaction, run_id: string): Promise<void> {
  await tx.run(sql`delete from checkpoint_writes where run_id = ${run_id}`);
  await tx.run(sql`delete from checkpoints where run_id = ${run_id}`);
}

/** Everything a thread remembers. */
export async function removeCheckpointsOfThread(tx: Transaction, thread_id: string): Promise<void> {
  await tx.run(sql`delete from checkpoint_writes where thread_id = ${thread_id}`);
  await tx.run(sql`delete from checkpoints where thread_id = ${thread_id}`);
  await tx.run(sql`delete from checkpoint_blobs where thread_id = ${thread_id}`);
}

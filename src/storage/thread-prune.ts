import { keepNewestCheckpoint } from './checkpoint-prune.ts';
import type { Db, Transaction } from './db.ts';
import { lockThread } from './queue/thread-lock.ts';
import { sql } from './sql.ts';

/**
 * Forgets a thread's history but for its newest checkpoint. False, and nothing happens, while a run of the thread is in
 * flight: it may go on from any checkpoint.
 */
export function pruneThread(db: Db, thread_id: string): Promise<boolean> {
  return db.transaction('promised', async (tx) => {
    await lockThread(tx, thread_id);
    if (await isInFlight(tx, thread_id)) return false;
    await keepNewestCheckpoint(tx, thread_id);
    return true;
  });
}

async function isInFlight(tx: Transaction, thread_id: string): Promise<boolean> {
  return (await tx.get(sql`select 1 from run_queue where thread_id = ${thread_id} limit 1`)) !== undefined;
}

import type { Transaction } from '../db.ts';
import { sql } from '../sql.ts';

/**
 * Makes the transactions of one thread take turns, so that counting its runs and adding one is a single decision.
 * SQLite has one writer at a time anyway. Every queue verb locks the thread before the queue: one order, no deadlock.
 */
export async function lockThread(tx: Transaction, thread_id: string): Promise<void> {
  if (tx.dialect === 'postgres') {
    await tx.get(sql`select 1 from threads where thread_id = ${thread_id} for update`);
  }
}

import { keepNewestCheckpoint } from './checkpoint-prune.ts';
import type { Db, Transaction } from './db.ts';
import { lockThread } from './queue/thread-lock.ts';
import { sql } from './sql.ts';
import { deleteThreadIn } from './thread-delete.ts';
import type { Ttl } from './thread-ttl.ts';
import { NOW } from './time.ts';

type Due = { thread_id: string; ttl_strategy: Ttl['strategy'] };

const DUE = sql`expires_at <= ${NOW} and not exists (
  select 1 from run_queue q where q.thread_id = threads.thread_id)`;

/**
 * Deletes threads whose time is over, or their history: at most `limit` of them; how many. One with a run in flight
 * waits for its end. A commit each: others must not wait for all of them.
 */
export async function expireThreads(db: Db, limit: number): Promise<number> {
  const due = await db.all<Due>(sql`select thread_id, ttl_strategy from threads
    where ${DUE} order by expires_at limit ${limit}`);
  for (const thread of due) await db.transaction('relaxed', (tx) => expire(tx, thread));
  return due.length;
}

async function expire(tx: Transaction, { thread_id, ttl_strategy }: Due): Promise<void> {
  await lockThread(tx, thread_id);
  // A run may have come in, or a client may have given it more time, since it was found.
  const due = await tx.get(sql`select 1 from threads where thread_id = ${thread_id} and ${DUE}`);
  if (!due) return;
  if (ttl_strategy === 'delete') {
    await deleteThreadIn(tx, thread_id);
    return;
  }
  await keepNewestCheckpoint(tx, thread_id);
  await tx.run(sql`update threads set expires_at = null where thread_id = ${thread_id}`);
}

import { removeCheckpointsOfThread } from './checkpoint-remove.ts';
import type { Db, Transaction } from './db.ts';
import { withThread } from './queue/locked-thread.ts';
import { removeLogs } from './run-events.ts';
import { sql } from './sql.ts';
import { removeThreadLog } from './thread-log.ts';
import { findThread } from './thread-row.ts';
import type { Visibility } from './visibility.ts';

/** The runs that were in flight, whose workers must be told; undefined when there is no such thread. */
export function deleteThread(
  db: Db,
  thread_id: string,
  visibility?: Visibility,
): Promise<string[] | undefined> {
  return withThread(db, 'freeing', thread_id, async (tx, thread) => {
    // One that is made from now on is not locked, and not meant.
    if (!thread.exists) return undefined;
    if (visibility && !(await findThread(tx, thread_id, [], visibility))) return undefined;
    return deleteThreadIn(tx, thread_id);
  });
}

/** The same in a transaction that has locked the thread. */
export async function deleteThreadIn(tx: Transaction, thread_id: string): Promise<string[] | undefined> {
  const queued = await tx.all<{ run_id: string }>(
    sql`select run_id from run_queue where thread_id = ${thread_id}`,
  );
  await removeLogs(tx, sql`(select run_id from runs where thread_id = ${thread_id})`);
  // Of a run that was rolled back and has not let go its place in the queue is all that names its log.
  await removeLogs(tx, sql`(select run_id from run_queue where thread_id = ${thread_id})`);
  await tx.run(sql`delete from run_queue where thread_id = ${thread_id}`);
  await removeThreadLog(tx, thread_id);
  await removeCheckpointsOfThread(tx, thread_id);
  // Its runs and values go with it.
  const deleted = await tx.run(sql`delete from threads where thread_id = ${thread_id}`);
  return deleted > 0 ? queued.map((row) => row.run_id) : undefined;
}

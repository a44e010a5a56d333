import type { Db, Transaction } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import type { Visibility } from '../access/visibility.ts';
import { deleteCheckpointsOfThread, keepLatestCheckpoint } from '../checkpoints/delete.ts';
import { deleteLogs } from '../runs/events.ts';
import { isIdle, withThread } from '../runs/thread-lock.ts';
import { deleteThreadLog } from '../runs/thread-log.ts';
import { findThread } from './row.ts';

/** The runs that were in flight, whose workers must be told; undefined when there is no such thread. */
export function deleteThread(
  db: Db,
  thread_id: string,
  visibility?: Visibility,
): Promise<string[] | undefined> {
  return withThread(db, 'reclaim', thread_id, async (tx, thread) => {
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
  await deleteLogs(tx, sql`(select run_id from runs where thread_id = ${thread_id})`);
  // Of a run that was rolled back and has not let go its place in the queue is all that names its log.
  await deleteLogs(tx, sql`(select run_id from run_queue where thread_id = ${thread_id})`);
  await tx.run(sql`delete from run_queue where thread_id = ${thread_id}`);
  await deleteThreadLog(tx, thread_id);
  await deleteCheckpointsOfThread(tx, thread_id);
  // Its runs and values go with it.
  const deleted = await tx.run(sql`delete from threads where thread_id = ${thread_id}`);
  return deleted > 0 ? queued.map((row) => row.run_id) : undefined;
}

/**
 * Part of the end of a run that made its thread for itself, once its place in the queue is gone: removes the thread with
 * its runs. False, and nothing happens, when another run of the thread waits or executes: a client put it there. Logs
 * stay for those who still read them, and go with their expiry.
 */
export async function deleteTemporaryThread(tx: Transaction, thread_id: string): Promise<boolean> {
  if (await tx.get(sql`select 1 from run_queue where thread_id = ${thread_id} limit 1`)) return false;
  await deleteCheckpointsOfThread(tx, thread_id);
  await tx.run(sql`delete from thread_log where thread_id = ${thread_id}`);
  await tx.run(sql`delete from threads where thread_id = ${thread_id}`);
  return true;
}

/**
 * Forgets a thread's history but for its newest checkpoint. False, and nothing happens, while a run of the thread is in
 * flight: it may go on from any checkpoint. A thread that is gone has nothing left to forget.
 */
export function pruneThread(db: Db, thread_id: string): Promise<boolean> {
  return withThread(db, 'reclaim', thread_id, async (tx, thread) => {
    if (!thread.exists) return true;
    if (!(await isIdle(tx, thread))) return false;
    await keepLatestCheckpoint(tx, thread_id);
    return true;
  });
}

import { columns } from '../../db/columns.ts';
import type { Db, Transaction } from '../../db/db.ts';
import { and, raw, sql } from '../../db/sql.ts';
import type { Visibility } from '../access/visibility.ts';
import { keepLatestCheckpoint } from '../checkpoints/delete.ts';
import { deleteContentsOfThread, deleteStepsOfThread } from '../runs/step-deletion.ts';
import { isIdle, withThread } from '../runs/thread-lock.ts';
import { deleteLogsOfThread } from '../runs/thread-log.ts';
import { byteSlices, type LargeRows } from '../search/byte-slices.ts';
import { deleteHistory, markDeleted } from './deletions.ts';
import { findThread } from './row.ts';

/**
 * Returns the runs in flight, whose workers must be notified; `undefined` if the thread does not exist. The thread and
 * its runs are gone then; what is left of a long history is not: call `deleteRest`.
 */
export function deleteThread(
  db: Db,
  thread_id: string,
  visibility?: Visibility,
): Promise<string[] | undefined> {
  return withThread(db, 'reclaim', thread_id, async (tx, thread) => {
    // A thread inserted from now on is neither locked nor meant.
    if (!thread.exists) return undefined;
    if (visibility && !(await findThread(tx, thread_id, [], visibility))) return undefined;
    const queued = await deleteThreadIn(tx, thread_id);
    // Last, in the lock order of A2A: a subscription before its deliveries. Those of a thread that expires are still sent.
    await deleteInSlices(tx, 'webhook_outbox', thread_id);
    return queued;
  });
}

/** Part of a transaction that holds the thread lock; see `deleteThread`. */
export async function deleteThreadIn(tx: Transaction, thread_id: string): Promise<string[] | undefined> {
  const queued = await tx.all(
    sql`select ${columns('run_queue', 'run_id')} from run_queue where thread_id = ${thread_id}`,
  );
  await deleteLogsOfThread(tx, thread_id);
  await tx.run(sql`delete from run_queue where thread_id = ${thread_id}`);
  await tx.run(sql`delete from thread_log where thread_id = ${thread_id}`);
  if (!(await deleteHistory(tx, thread_id))) await markDeleted(tx, thread_id);
  await deleteStepsOfThread(tx, thread_id);
  await deleteInSlices(tx, 'runs', thread_id);
  // Cascades to its values and to what extensions store.
  const deleted = await tx.run(sql`delete from threads where thread_id = ${thread_id}`);
  return deleted > 0 ? queued.map((row) => row.run_id) : undefined;
}

const LARGE_ROWS = {
  runs: { id: 'run_id', large: ['kwargs', 'metadata'] },
  webhook_outbox: { id: 'delivery_id', large: ['body'] },
} as const;

/** SQLite would block the event loop while one statement frees the pages of them all. */
async function deleteInSlices(
  tx: Transaction,
  table: keyof typeof LARGE_ROWS,
  thread_id: string,
): Promise<void> {
  const { id, large } = LARGE_ROWS[table];
  const rows: LargeRows = {
    from: raw(table),
    where: [sql`thread_id = ${thread_id}`],
    id,
    large: large.map(raw),
  };
  for await (const slice of byteSlices(tx, rows))
    await tx.run(sql`delete from ${raw(table)} where ${and([...rows.where, slice])}`);
}

/** Returns false, and changes nothing, while a run of the thread is in flight. True for a thread that does not exist. */
export function pruneThread(db: Db, thread_id: string): Promise<boolean> {
  return withThread(db, 'reclaim', thread_id, async (tx, thread) => {
    if (!thread.exists) return true;
    if (!(await isIdle(tx, thread))) return false;
    await pruneThreadIn(tx, thread_id);
    return true;
  });
}

/**
 * Part of a transaction that holds the lock of an idle thread, as a run may resume from any checkpoint: deletes its
 * history except for the newest checkpoint, and what the steps of its runs were given and returned.
 */
export async function pruneThreadIn(tx: Transaction, thread_id: string): Promise<void> {
  await keepLatestCheckpoint(tx, thread_id);
  await deleteContentsOfThread(tx, thread_id);
}

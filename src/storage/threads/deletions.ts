import { Unavailable } from '../../core/errors.ts';
import { columns, number } from '../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../db/db.ts';
import { isOneOfNumbers } from '../../db/json.ts';
import { FOR_UPDATE, raw, SKIP_LOCKED, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import { slicesOf, sumOf } from '../search/byte-slices.ts';

/** Rows of a history that a transaction deletes: bounds how long other writers wait. */
const BATCH = 1_000;

/**
 * What is large in each. In this order a reader of another thread's history misses whole checkpoints before it misses parts
 * of them.
 */
const HISTORY = {
  checkpoints: ['checkpoint', 'versions', 'metadata'],
  checkpoint_writes: ['value'],
  checkpoint_blobs: ['value'],
  step_texts: ['data'],
} as const;
type HistoryTable = keyof typeof HISTORY;

/**
 * By address of the row: a batch costs the same however many rows are left. In slices by bytes on SQLite, which frees the
 * pages of a statement in one go. Returns the number of rows.
 */
async function deleteSome(
  tx: Transaction,
  table: HistoryTable,
  thread_id: string,
  limit: number,
): Promise<number> {
  const own = sql`from ${raw(table)} where thread_id = ${thread_id} limit ${limit}`;
  if (tx.dialect === 'postgres')
    return tx.run(sql`delete from ${raw(table)} where ctid = any(array(select ctid ${own}))`);
  const bytes = sumOf(HISTORY[table].map(raw));
  const sized = await tx.all(sql`select rowid as ${number('row')}, ${bytes} as ${number('bytes')} ${own}`);
  for (const slice of slicesOf(sized)) {
    const rows = slice.map(({ row }) => row);
    await tx.run(sql`delete from ${raw(table)} where ${isOneOfNumbers(raw('rowid'), rows)}`);
  }
  return sized.length;
}

/** Deletes a batch of a thread's history; returns true if nothing of it is left. */
export async function deleteHistory(tx: Transaction, thread_id: string): Promise<boolean> {
  let left = BATCH;
  for (const table of Object.keys(HISTORY) as HistoryTable[]) {
    left -= await deleteSome(tx, table, thread_id, left);
    if (left === 0) return false;
  }
  return true;
}

/** Part of the transaction that deletes the thread: its history is deleted to the end even if a process dies. */
export async function markDeleted(tx: Transaction, thread_id: string): Promise<void> {
  await tx.run(sql`insert into thread_deletions (thread_id, deleted_at) values (${thread_id}, ${NOW})
    on conflict (thread_id) do nothing`);
}

/** Condition of an insert of a thread: no history of an earlier one with its id is left. */
export const notBeingDeleted = (thread_id: string) =>
  sql`not exists (select 1 from thread_deletions where thread_id = ${thread_id})`;

/** Why an insert did nothing: throws if an earlier thread with the id is being deleted. */
export async function refuseWhileDeleted(reader: Pick<Reader, 'get'>, thread_id: string): Promise<void> {
  const marked = await reader.get(sql`select 1 from thread_deletions where thread_id = ${thread_id}`);
  if (marked)
    throw new Unavailable(
      `Thread ${thread_id} is being deleted. Create it again when the deletion has finished.`,
    );
}

/** Deletes what `deleteThread` left of a thread's history, in batches; returns at once if that was nothing. */
export async function deleteRest(db: Db, thread_id: string): Promise<void> {
  while (await deleteBatch(db, thread_id));
}

/** Returns true if there may be more. */
function deleteBatch(db: Db, thread_id: string): Promise<boolean> {
  return db.transaction('reclaim', async (tx) => {
    // Another process that deletes from it holds the row: two batches at once would take each other's for the end.
    const marked = await tx.get(
      sql`select 1 from thread_deletions where thread_id = ${thread_id} ${FOR_UPDATE}`,
    );
    if (!marked) return false;
    return deleteMarked(tx, thread_id);
  });
}

async function deleteMarked(tx: Transaction, thread_id: string): Promise<boolean> {
  if (!(await deleteHistory(tx, thread_id))) return true;
  await tx.run(sql`delete from thread_deletions where thread_id = ${thread_id}`);
  return false;
}

/**
 * Deletes one batch of the oldest unlocked deletion, including those of crashed processes. Returns `limit` if there may be
 * more, as a sweep that has deleted that many rows.
 */
export function sweepDeletions(db: Db, limit: number): Promise<number> {
  return db.transaction('reclaim', async (tx) => {
    const oldest = await tx.get(sql`select ${columns('thread_deletions', 'thread_id')} from thread_deletions
      order by deleted_at limit 1 ${SKIP_LOCKED}`);
    if (!oldest) return 0;
    await deleteMarked(tx, oldest.thread_id);
    return limit;
  });
}

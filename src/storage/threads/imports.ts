import { toJson } from '../../core/json.ts';
import type { Db } from '../../db/db.ts';
import { and, sql } from '../../db/sql.ts';
import type { Thread } from '../../schemas/threads.ts';
import { VISIBLE_THREADS, type Visibility, visible } from '../access/visibility.ts';
import { deleteCheckpointsOfThread } from '../checkpoints/delete.ts';
import { withThread } from '../runs/thread-lock.ts';
import { IMPORT, unfinishedImport } from '../runs/unfinished-import.ts';
import { type Ttl, ttlValues } from './row.ts';

/**
 * Takes over an unfinished import: empties the thread for the import `import_id`, after which the earlier one can write
 * nothing more. Returns false if the thread is whole or not visible. Throws `Conflict` if it is not whole and the request
 * brings no history.
 */
export function restartImport(
  db: Db,
  { thread_id, metadata, updated_at }: Thread,
  ttl: Ttl | undefined,
  import_id: string | undefined,
  visibility?: Visibility,
): Promise<boolean> {
  return withThread(db, 'sync', thread_id, async (tx) => {
    const wanted = and([sql`thread_id = ${thread_id}`, visible(VISIBLE_THREADS, visibility)]);
    const row = await tx.get(sql`select ${IMPORT} from threads where ${wanted}`);
    if (!row || row.import_id === null) return false;
    if (import_id === undefined) throw unfinishedImport(thread_id);
    deleteCheckpointsOfThread(tx, thread_id);
    await tx.run(sql`update threads set import_id = ${import_id}, metadata = ${toJson(metadata)},
      updated_at = ${updated_at}, (ttl_strategy, ttl_minutes, expires_at) = (${ttlValues(ttl)})
      where thread_id = ${thread_id}`);
    return true;
  });
}

/** Ends an import that has nothing to write. */
export async function endImport(db: Db, thread_id: string, import_id: string): Promise<void> {
  await db.run(sql`update threads set import_id = null
    where thread_id = ${thread_id} and import_id = ${import_id}`);
}

export async function hasUnfinishedImport(db: Db, thread_id: string): Promise<boolean> {
  const row = await db.get(sql`select ${IMPORT} from threads where thread_id = ${thread_id}`);
  return (row?.import_id ?? null) !== null;
}

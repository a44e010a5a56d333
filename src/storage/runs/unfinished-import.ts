import { Conflict } from '../../core/errors.ts';
import { columns } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';

/*
 * The history of a new thread is imported in many transactions. Its row carries the id of the import from the first one
 * to the last. Until then only that import may write, no run starts and no copy is made.
 */

/** 409 for what needs the whole history. */
export function unfinishedImport(thread_id: string): Conflict {
  return new Conflict(
    `The history of thread ${thread_id} is not completely imported. ` +
      'Wait for the import; if it was interrupted, send it again with "if_exists": "do_nothing", or delete the thread.',
  );
}

/** The import that writes the history of a thread; null for a whole thread. */
export const IMPORT = columns('threads', 'import_id');

/** Throws `Conflict` unless the locked thread is whole, or is written by this import. */
export async function requireImport(tx: Transaction, thread_id: string, import_id?: string): Promise<void> {
  const row = await tx.get(sql`select ${IMPORT} from threads where thread_id = ${thread_id}`);
  if (row && row.import_id !== (import_id ?? null)) throw unfinishedImport(thread_id);
}

import { Unavailable } from '../core/errors.ts';
import type { Reader } from '../db/db.ts';
import { hasTable } from '../db/schema.ts';

/**
 * Progress of a copy, in a table of the target that exists only until the copy is complete: each batch is committed
 * together with its last key, so that a copy which was killed continues exactly there.
 */
export const COPY_PROGRESS = 'copy_progress';

/** Throws `Unavailable` for the target of an unfinished copy: a server on it would show a part of the data. */
export async function assertNoCopy(reader: Reader): Promise<void> {
  if (!(await hasTable(reader, COPY_PROGRESS))) return;
  const detail = 'The database is an unfinished copy of another one, and lacks some of its data.';
  throw new Unavailable(`${detail} Run the same "agent-server copy" again: it continues where it stopped.`);
}

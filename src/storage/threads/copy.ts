import { toJson } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Db, Transaction } from '../../db/db.ts';
import { and, sql } from '../../db/sql.ts';
import type { Thread } from '../../schemas/threads.ts';
import { VISIBLE_THREADS, type Visibility, visible } from '../access/visibility.ts';
import { copyCheckpoints } from '../checkpoints/put.ts';
import { unfinishedImport } from '../runs/unfinished-import.ts';
import { findThread, type Ttl, ttlValues } from './row.ts';

export interface ThreadCopy {
  readonly source_id: string;
  readonly target_id: string;
  /** ISO-8601. */
  readonly at: string;
  /** TTL of the copy; the source's is not copied. */
  readonly ttl?: Ttl | undefined;
  /** Merged shallow over the source's metadata. */
  readonly metadata?: Record<string, unknown> | undefined;
  /** A source that is not visible is missing. */
  readonly visibility?: Visibility | undefined;
}

/**
 * Creates a thread with the metadata, state and history of another, but without its runs: the copy of a busy thread is
 * not busy. Returns `undefined` if the source does not exist. Throws `Conflict` if it is not completely imported.
 */
export function copyThread(db: Db, copy: ThreadCopy): Promise<Thread | undefined> {
  const { source_id, target_id } = copy;
  // One snapshot: what a run has written may be rolled back meanwhile, or the source pruned or deleted.
  return db.transaction('snapshot', async (tx) => {
    if (!(await copyRow(tx, copy))) return undefined;
    await copyValues(tx, source_id, target_id);
    await copyCheckpoints(tx, source_id, target_id);
    return findThread(tx, target_id);
  });
}

/** Copies the row through the program: as parameters, its values need no casts. Returns false if it does not exist. */
async function copyRow(tx: Transaction, copy: ThreadCopy): Promise<boolean> {
  const { source_id, target_id, at, ttl } = copy;
  const wanted = and([sql`thread_id = ${source_id}`, visible(VISIBLE_THREADS, copy.visibility)]);
  const source = await tx.get(
    sql`select ${columns('threads', 'status, metadata, values_summary, error, interrupts, import_id')} from threads where ${wanted}`,
  );
  if (!source) return false;
  if (source.import_id !== null) throw unfinishedImport(source_id);
  const metadata = copy.metadata
    ? toJson({ ...JSON.parse(source.metadata), ...copy.metadata })
    : source.metadata;
  const inserted = await tx.run(sql`
    insert into threads (thread_id, status, metadata, values_summary, config, error, interrupts, created_at, updated_at,
      state_updated_at, ttl_strategy, ttl_minutes, expires_at)
    values (${target_id}, ${source.status}, ${metadata}, ${source.values_summary}, '{}', ${source.error},
      ${source.interrupts}, ${at},
      ${at}, ${at}, ${ttlValues(ttl)})`);
  return inserted > 0;
}

/** Selects the new id from the new thread's row, where it has its type. */
function copyValues(tx: Transaction, source_id: string, target_id: string): Promise<number> {
  return tx.run(sql`
    insert into thread_values (thread_id, value)
    select (select thread_id from threads where thread_id = ${target_id}), value
    from thread_values where thread_id = ${source_id}`);
}

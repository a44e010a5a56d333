import { toJson } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Db, Transaction } from '../../db/db.ts';
import { and, sql } from '../../db/sql.ts';
import type { Thread } from '../../schemas/threads.ts';
import { VISIBLE_THREADS, type Visibility, visible } from '../access/visibility.ts';
import { copyCheckpoints } from '../checkpoints/put.ts';
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
 * not busy. Returns `undefined` if the source does not exist.
 */
export function copyThread(db: Db, copy: ThreadCopy): Promise<Thread | undefined> {
  const { source_id, target_id } = copy;
  return db
    .transaction('sync', async (tx) => {
      const created_at = await copyRow(tx, copy);
      if (!created_at) return undefined;
      await copyValues(tx, source_id, target_id);
      await copyCheckpoints(tx, source_id, target_id);
      // Statements see what was committed before each: if the source was deleted, some of its history may be missing.
      const source = await tx.get(
        sql`select 1 from threads where thread_id = ${source_id} and created_at = ${created_at}`,
      );
      if (!source) throw new SourceDeleted(`thread ${source_id} was deleted while it was copied`);
      return findThread(tx, target_id);
    })
    .catch((error) => {
      if (error instanceof SourceDeleted) return undefined;
      throw error;
    });
}

/** Rolls back the transaction of a copy. */
class SourceDeleted extends Error {}

/**
 * Copies the row through the program: as parameters, its values need no casts. Returns when the source was created;
 * `undefined` if it does not exist.
 */
async function copyRow(tx: Transaction, copy: ThreadCopy): Promise<string | undefined> {
  const { source_id, target_id, at, ttl } = copy;
  const wanted = and([sql`thread_id = ${source_id}`, visible(VISIBLE_THREADS, copy.visibility)]);
  const source = await tx.get(
    sql`select ${columns('threads', 'status, metadata, values_summary, error, interrupts, created_at')} from threads where ${wanted}`,
  );
  if (!source) return undefined;
  const metadata = copy.metadata
    ? toJson({ ...JSON.parse(source.metadata), ...copy.metadata })
    : source.metadata;
  const inserted = await tx.run(sql`
    insert into threads (thread_id, status, metadata, values_summary, config, error, interrupts, created_at, updated_at,
      state_updated_at, ttl_strategy, ttl_minutes, expires_at)
    values (${target_id}, ${source.status}, ${metadata}, ${source.values_summary}, '{}', ${source.error},
      ${source.interrupts}, ${at},
      ${at}, ${at}, ${ttlValues(ttl)})`);
  return inserted > 0 ? source.created_at : undefined;
}

/** Selects the new id from the new thread's row, where it has its type. */
function copyValues(tx: Transaction, source_id: string, target_id: string): Promise<number> {
  return tx.run(sql`
    insert into thread_values (thread_id, value)
    select (select thread_id from threads where thread_id = ${target_id}), value
    from thread_values where thread_id = ${source_id}`);
}

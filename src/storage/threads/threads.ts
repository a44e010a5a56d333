import { bind } from '../../db/bind.ts';
import { columns, flag, number } from '../../db/columns.ts';
import type { Db, Reader } from '../../db/db.ts';
import { isOneOf, mergeJson } from '../../db/json.ts';
import { and, join, raw, type Sql, sql } from '../../db/sql.ts';
import type { Thread, ThreadPatch, ThreadStorage } from '../../schemas/threads.ts';
import { VISIBLE_THREADS, type Visibility, visible } from '../access/visibility.ts';
import { copyThread } from './copy.ts';
import { deleteThread, pruneThread } from './delete.ts';
import { expireThreads } from './expiry.ts';
import { findThread, insertThread, type Ttl, threadExpiry, ttlValues } from './row.ts';
import { countThreads, searchThreads } from './search.ts';
import { refreshThread, setThreadState } from './state.ts';

export interface ThreadChanges {
  readonly metadata?: ThreadPatch['metadata'];
  /** The period starts now. */
  readonly ttl?: Ttl | undefined;
}

export type ThreadRepository = ReturnType<typeof threadRepository>;

/**
 * Threads and their newest values (CONTRACT §2.2). `queue/finish` writes their status at the end of a run. With a
 * visibility, a thread that is not visible is missing.
 */
export function threadRepository(db: Db) {
  return bind(db, {
    insert: insertThread,
    get: findThread,
    checkVisibility,
    search: searchThreads,
    count: countThreads,
    countByIds,
    update: updateThread,
    setState: setThreadState,
    refresh: refreshThread,
    delete: deleteThread,
    prune: pruneThread,
    copy: copyThread,
    size: threadSize,
    expiry: threadExpiry,
    expire: expireThreads,
    revisionOf,
  });
}

/** `hidden`: the thread exists, but is not visible. */
async function checkVisibility(
  db: Db,
  thread_id: string,
  visibility: Visibility,
): Promise<'visible' | 'hidden' | 'missing'> {
  const row = await db.get(sql`
    select ${visible(VISIBLE_THREADS, visibility) as Sql} as ${flag('is_visible')}
    from threads where thread_id = ${thread_id}`);
  return row ? (row.is_visible ? 'visible' : 'hidden') : 'missing';
}

/** The canary that a thread began with, which may be none any more. */
async function revisionOf(db: Db, thread_id: string): Promise<string | undefined> {
  const row = await db.get(
    sql`select ${columns('threads', 'revision_id')} from threads where thread_id = ${thread_id}`,
  );
  return row?.revision_id ?? undefined;
}

/** Number of these threads that exist and are visible. */
async function countByIds(db: Db, thread_ids: readonly string[], visibility?: Visibility): Promise<number> {
  const wanted = and([isOneOf('thread_id', thread_ids), visible(VISIBLE_THREADS, visibility)]);
  const row = await db.get(sql`select count(*) as ${number('count')} from threads where ${wanted}`);
  return row?.count ?? 0;
}

function updateThread(
  db: Db,
  thread_id: string,
  { metadata, ttl }: ThreadChanges,
  at: string,
  visibility?: Visibility,
): Promise<Thread | undefined> {
  const wanted = and([sql`thread_id = ${thread_id}`, visible(VISIBLE_THREADS, visibility)]);
  const assignments = [
    sql`updated_at = ${at}`,
    metadata && sql`metadata = ${mergeJson('metadata', metadata)}`,
    ttl && sql`(ttl_strategy, ttl_minutes, expires_at) = (${ttlValues(ttl)})`,
  ].filter((assignment) => assignment !== undefined);
  return db.transaction('sync', async (tx) => {
    const changed = await tx.run(sql`update threads set ${join(assignments, ', ')} where ${wanted}`);
    return changed > 0 ? findThread(tx, thread_id) : undefined;
  });
}

/** Size of a thread's history; zeros if it has none. Excludes row and index overhead of the database. */
export async function threadSize(reader: Reader, thread_id: string): Promise<ThreadStorage> {
  const [checkpoints, values, pending_writes] = await Promise.all([
    sizeOf(reader, sql`checkpoints`, thread_id, ['checkpoint', 'versions', 'metadata']),
    valueSizes(reader, thread_id),
    sizeOf(reader, sql`checkpoint_writes`, thread_id, ['value']),
  ]);
  const count = values.reduce((sum, { versions }) => sum + versions, 0);
  const bytes = values.reduce((sum, channel) => sum + channel.bytes, 0);
  return {
    thread_id,
    total_bytes: checkpoints.bytes + bytes + pending_writes.bytes,
    checkpoints,
    channel_values: {
      count,
      bytes,
      by_channel: Object.fromEntries(values.map(({ channel, ...size }) => [channel, size])),
    },
    pending_writes,
  };
}

async function sizeOf(reader: Reader, table: Sql, thread_id: string, stored: string[]) {
  const size = await reader.get(sql`
    select count(*) as ${number('count')}, ${bytesOf(stored)} as ${number('bytes')}
    from ${table} where thread_id = ${thread_id}`);
  return { count: size?.count ?? 0, bytes: size?.bytes ?? 0 };
}

function valueSizes(
  reader: Reader,
  thread_id: string,
): Promise<{ channel: string; versions: number; bytes: number }[]> {
  return reader.all(sql`
    select ${columns('checkpoint_blobs', 'channel')}, count(*) as ${number('versions')},
      ${bytesOf(['value'])} as ${number('bytes')}
    from checkpoint_blobs where thread_id = ${thread_id} group by channel order by channel`);
}

/** Stored size, not size as read: a list that only grew is stored as deltas. */
function bytesOf(stored: readonly string[]): Sql {
  const bytes = stored.map((column) => (column === 'value' ? column : `cast(${column} as text)`));
  return raw(`cast(coalesce(sum(${bytes.map((each) => `octet_length(${each})`).join(' + ')}), 0) as bigint)`);
}

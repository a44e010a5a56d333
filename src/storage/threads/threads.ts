import { bind } from '../../db/bind.ts';
import { columns, flag, number } from '../../db/columns.ts';
import type { Db } from '../../db/db.ts';
import { isOneOf, mergeJson } from '../../db/json.ts';
import { and, join, type Sql, sql } from '../../db/sql.ts';
import type { Thread, ThreadPatch } from '../../schemas/threads.ts';
import { VISIBLE_THREADS, type Visibility, visible } from '../access/visibility.ts';
import { lockThreadRow } from '../runs/thread-lock.ts';
import { copyThread } from './copy.ts';
import { deleteThread, pruneThread } from './delete.ts';
import { deleteRest, sweepDeletions } from './deletions.ts';
import { expireThreads } from './expiry.ts';
import { endImport, hasUnfinishedImport, restartImport } from './imports.ts';
import { findThread, insertThread, type Ttl, threadExpiry, ttlValues } from './row.ts';
import { countThreads, searchThreads } from './search.ts';
import { threadSize } from './size.ts';
import { refreshThread, setThreadState } from './state.ts';
import { lacksState, setStateAfterRun } from './state-after-run.ts';

export interface ThreadChanges {
  readonly metadata?: ThreadPatch['metadata'];
  /** The period starts now. */
  readonly ttl?: Ttl | undefined;
}

export type ThreadRepository = ReturnType<typeof threadRepository>;

/**
 * Threads and their newest values (contract §2.2). `queue/finish` writes their status at the end of a run. With a
 * visibility, a thread that is not visible is missing.
 */
export function threadRepository(db: Db) {
  return bind(db, {
    insert: insertNewThread,
    get: findThread,
    checkVisibility,
    search: searchThreads,
    count: countThreads,
    countByIds,
    update: updateThread,
    setState: setThreadState,
    refresh: refreshThread,
    lacksState,
    setStateAfterRun,
    delete: deleteThread,
    deleteRest,
    sweepDeletions,
    prune: pruneThread,
    copy: copyThread,
    restartImport,
    endImport,
    hasUnfinishedImport,
    size: threadSize,
    expiry: threadExpiry,
    expire: expireThreads,
    executorOf,
  });
}

/** As `insertThread`, behind a deletion of a thread with this id that is not committed yet. */
function insertNewThread(db: Db, thread: Thread, ttl?: Ttl, import_id?: string): Promise<boolean> {
  return db.transaction('sync', async (tx) => {
    const waited = tx.dialect === 'postgres' ? lockThreadRow(tx, thread.thread_id) : undefined;
    const [isInserted] = await Promise.all([insertThread(tx, thread, ttl, import_id), waited]);
    return isInserted;
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
async function executorOf(db: Db, thread_id: string): Promise<string | undefined> {
  const row = await db.get(
    sql`select ${columns('threads', 'executor_id')} from threads where thread_id = ${thread_id}`,
  );
  return row?.executor_id ?? undefined;
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

import type { Thread, ThreadExpiry, ThreadFilter, ThreadPatch, ThreadStorage } from '../schemas/threads.ts';
import type { Db } from './db.ts';
import { isOneOf, merged } from './json.ts';
import { all, join, type Sql, sql } from './sql.ts';
import { copyThread, type ThreadCopy } from './thread-copy.ts';
import { deleteThread } from './thread-delete.ts';
import { type Expired, type ExpiryCursor, expireThreads } from './thread-expiry.ts';
import { pruneThread } from './thread-prune.ts';
import { findThread, insertThread, type ThreadSelection } from './thread-row.ts';
import { countThreads, type FoundThread, searchThreads, type ThreadQuery } from './thread-search.ts';
import { threadSize } from './thread-size.ts';
import { type NewState, setThreadState, settleThread } from './thread-state.ts';
import { type Ttl, threadExpiry, ttlValues } from './thread-ttl.ts';
import { VISIBLE_THREADS, type Visibility, visible } from './visibility.ts';

export interface ThreadChanges {
  readonly metadata?: ThreadPatch['metadata'];
  /** Its time starts now. */
  readonly ttl?: Ttl | undefined;
}

export type ThreadRepository = ReturnType<typeof threadRepository>;

/**
 * Threads and their newest values (CONTRACT §2.2). Their status at the end of a run is written by `queue/finish`. To a
 * verb with a visibility, a thread that is not visible is missing.
 */
export function threadRepository(db: Db) {
  return {
    /** A thread that has no state yet. False when the id is taken. */
    insert(thread: Thread, ttl?: Ttl): Promise<boolean> {
      return insertThread(db, thread, ttl);
    },

    get(
      thread_id: string,
      selection?: ThreadSelection,
      visibility?: Visibility,
    ): Promise<Thread | undefined> {
      return findThread(db, thread_id, selection, visibility);
    },

    /** Whether it is there for somebody: `hidden` is there, but not for them. */
    async standing(thread_id: string, visibility: Visibility): Promise<'visible' | 'hidden' | 'missing'> {
      const row = await db.get<{ is_visible: boolean | 0 | 1 }>(sql`
        select ${visible(VISIBLE_THREADS, visibility) as Sql} as is_visible
        from threads where thread_id = ${thread_id}`);
      return row ? (row.is_visible ? 'visible' : 'hidden') : 'missing';
    },

    /** Whole rows, but for `values` that were not selected. */
    search(query: ThreadQuery, visibility?: Visibility): Promise<FoundThread[]> {
      return searchThreads(db, query, visibility);
    },

    count(filter: ThreadFilter, visibility?: Visibility): Promise<number> {
      return countThreads(db, filter, visibility);
    },

    /** `metadata` is merged shallow. `updated_at` moves even when nothing else does. */
    update(
      thread_id: string,
      changes: ThreadChanges,
      at: string,
      visibility?: Visibility,
    ): Promise<Thread | undefined> {
      return updateThread(db, thread_id, changes, at, visibility);
    },

    /** Refused while a run of the thread is in flight; `superseded` when there is a newer checkpoint by now. */
    setState(thread_id: string, state: NewState, at: string) {
      return setThreadState(db, thread_id, state, at);
    },

    /** After a run was taken away: status and interrupts, unless another run is in flight or the last one failed. */
    settle(
      thread_id: string,
      state: Pick<NewState, 'status' | 'interrupts' | 'checkpoint_id'>,
    ): Promise<void> {
      return settleThread(db, thread_id, state);
    },

    /**
     * With its runs, their events and its checkpoints. The runs that were in flight, whose workers must be told;
     * undefined when there is no such thread.
     */
    delete(thread_id: string, visibility?: Visibility): Promise<string[] | undefined> {
      return deleteThread(db, thread_id, visibility);
    },

    /** All but its newest checkpoint goes. False, and nothing happens, while a run of it is in flight. */
    keepNewestCheckpoint(thread_id: string): Promise<boolean> {
      return pruneThread(db, thread_id);
    },

    /** What its history takes. */
    size(thread_id: string): Promise<ThreadStorage> {
      return threadSize(db, thread_id);
    },

    /** What becomes of it and when; undefined for one that stays. */
    expiry(thread_id: string): Promise<ThreadExpiry | undefined> {
      return threadExpiry(db, thread_id);
    },

    /** Removes threads whose time is over, or their history; at most `limit` of them, those after a cursor. */
    expire(limit: number, after?: ExpiryCursor): Promise<Expired> {
      return expireThreads(db, limit, after);
    },

    /** How many of these there are. */
    async countOf(thread_ids: readonly string[], visibility?: Visibility): Promise<number> {
      const wanted = all([isOneOf('thread_id', thread_ids), visible(VISIBLE_THREADS, visibility)]);
      const row = await db.get<{ count: number }>(sql`select count(*) as count from threads where ${wanted}`);
      return row?.count ?? 0;
    },

    /** State and history go over, runs do not. Undefined when there is no source. */
    copy(copy: ThreadCopy): Promise<Thread | undefined> {
      return copyThread(db, copy);
    },
  };
}

function updateThread(
  db: Db,
  thread_id: string,
  { metadata, ttl }: ThreadChanges,
  at: string,
  visibility: Visibility | undefined,
): Promise<Thread | undefined> {
  const wanted = all([sql`thread_id = ${thread_id}`, visible(VISIBLE_THREADS, visibility)]);
  const assignments = [
    sql`updated_at = ${at}`,
    metadata && sql`metadata = ${merged('metadata', metadata)}`,
    ttl && sql`(ttl_strategy, ttl_minutes, expires_at) = (${ttlValues(ttl)})`,
  ].filter((assignment) => assignment !== undefined);
  return db.transaction('promised', async (tx) => {
    const changed = await tx.run(sql`update threads set ${join(assignments, ', ')} where ${wanted}`);
    return changed > 0 ? findThread(tx, thread_id) : undefined;
  });
}

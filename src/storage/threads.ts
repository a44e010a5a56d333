import type {
  Thread,
  ThreadExpiry,
  ThreadFilter,
  ThreadPatch,
  ThreadSearch,
  ThreadStorage,
} from '../schemas/threads.ts';
import type { Db } from './db.ts';
import { isOneOf, merged } from './json.ts';
import type { MetadataFilter } from './metadata-filter.ts';
import { join, sql } from './sql.ts';
import { copyThread } from './thread-copy.ts';
import { deleteThread } from './thread-delete.ts';
import { expireThreads } from './thread-expiry.ts';
import { pruneThread } from './thread-prune.ts';
import { findThread, insertThread, type ThreadSelection } from './thread-row.ts';
import { countThreads, searchThreads } from './thread-search.ts';
import { threadSize } from './thread-size.ts';
import { type NewState, setThreadState, settleThread } from './thread-state.ts';
import { type Ttl, threadExpiry, ttlValues } from './thread-ttl.ts';

export interface ThreadChanges {
  readonly metadata?: ThreadPatch['metadata'];
  /** Its time starts now. */
  readonly ttl?: Ttl | undefined;
}

export type ThreadRepository = ReturnType<typeof threadRepository>;

/** Threads and their newest values (CONTRACT §2.2). Their status at the end of a run is written by `queue/finish`. */
export function threadRepository(db: Db) {
  return {
    /** A thread that has no state yet. False when the id is taken. */
    insert(thread: Thread, ttl?: Ttl): Promise<boolean> {
      return insertThread(db, thread, ttl);
    },

    get(thread_id: string, selection?: ThreadSelection): Promise<Thread | undefined> {
      return findThread(db, thread_id, selection);
    },

    /** Whole rows, but for `values` that were not selected; of what is `visible` to the caller, if not all is. */
    search(query: ThreadSearch, visible?: MetadataFilter): Promise<Thread[]> {
      return searchThreads(db, query, visible);
    },

    count(filter: ThreadFilter, visible?: MetadataFilter): Promise<number> {
      return countThreads(db, filter, visible);
    },

    /** `metadata` is merged shallow. `updated_at` moves even when nothing else does. */
    update(thread_id: string, changes: ThreadChanges, at: string): Promise<Thread | undefined> {
      return updateThread(db, thread_id, changes, at);
    },

    /** Refused while a run of the thread is in flight. */
    setState(thread_id: string, state: NewState, at: string): Promise<'updated' | 'busy' | 'missing'> {
      return setThreadState(db, thread_id, state, at);
    },

    /** After a run was taken away: status and interrupts, unless another run is in flight or the last one failed. */
    settle(thread_id: string, state: Pick<NewState, 'status' | 'interrupts'>): Promise<void> {
      return settleThread(db, thread_id, state);
    },

    /**
     * With its runs, their events and its checkpoints. The runs that were in flight, whose workers must be told;
     * undefined when there is no such thread.
     */
    delete(thread_id: string): Promise<string[] | undefined> {
      return deleteThread(db, thread_id);
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

    /** Removes threads whose time is over, or their history; at most `limit` of them, how many. */
    expire(limit: number): Promise<number> {
      return expireThreads(db, limit);
    },

    /** How many of these there are. */
    async countOf(thread_ids: readonly string[]): Promise<number> {
      const row = await db.get<{ count: number }>(
        sql`select count(*) as count from threads where ${isOneOf('thread_id', thread_ids)}`,
      );
      return row?.count ?? 0;
    },

    /** State and history go over, runs do not. Undefined when there is no source. */
    copy(source_id: string, target_id: string, at: string, ttl?: Ttl): Promise<Thread | undefined> {
      return copyThread(db, { source_id, target_id, at, ttl });
    },
  };
}

function updateThread(
  db: Db,
  thread_id: string,
  { metadata, ttl }: ThreadChanges,
  at: string,
): Promise<Thread | undefined> {
  const assignments = [
    sql`updated_at = ${at}`,
    metadata && sql`metadata = ${merged('metadata', metadata)}`,
    ttl && sql`(ttl_strategy, ttl_minutes, expires_at) = (${ttlValues(ttl)})`,
  ].filter((assignment) => assignment !== undefined);
  return db.transaction('promised', async (tx) => {
    await tx.run(sql`update threads set ${join(assignments, ', ')} where thread_id = ${thread_id}`);
    return findThread(tx, thread_id);
  });
}

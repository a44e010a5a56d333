import type { Db, Reader } from '../../db/db.ts';
import { isOneOf, merged } from '../../db/json.ts';
import { all, join, raw, type Sql, sql } from '../../db/sql.ts';
import type {
  Thread,
  ThreadExpiry,
  ThreadFilter,
  ThreadPatch,
  ThreadStorage,
} from '../../schemas/threads.ts';
import { VISIBLE_THREADS, type Visibility, visible } from '../access/visibility.ts';
import { copyThread, type ThreadCopy } from './copy.ts';
import { deleteThread, pruneThread } from './delete.ts';
import { type Expired, type ExpiryCursor, expireThreads } from './expiry.ts';
import { findThread, insertThread, type ThreadSelection, type Ttl, threadExpiry, ttlValues } from './row.ts';
import { countThreads, type FoundThread, searchThreads, type ThreadQuery } from './search.ts';
import { type NewState, setThreadState, settleThread } from './state.ts';

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

interface Size {
  readonly count: number;
  readonly bytes: number;
}

/** What the history of a thread takes; zeros when it has none. Rows and indexes of the database are not counted. */
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

async function sizeOf(reader: Reader, table: Sql, thread_id: string, columns: string[]): Promise<Size> {
  const size = await reader.get<Size>(sql`select count(*) as count, ${bytesOf(columns)} as bytes
    from ${table} where thread_id = ${thread_id}`);
  return { count: size?.count ?? 0, bytes: size?.bytes ?? 0 };
}

function valueSizes(
  reader: Reader,
  thread_id: string,
): Promise<{ channel: string; versions: number; bytes: number }[]> {
  return reader.all(sql`select channel, count(*) as versions, ${bytesOf(['value'])} as bytes
    from checkpoint_blobs where thread_id = ${thread_id} group by channel order by channel`);
}

/** A list that only grew is stored by what was appended: its size is what is stored, not what is read. */
function bytesOf(columns: readonly string[]): Sql {
  const bytes = columns.map((column) => (column === 'value' ? column : `cast(${column} as text)`));
  return raw(`cast(coalesce(sum(${bytes.map((each) => `octet_length(${each})`).join(' + ')}), 0) as bigint)`);
}

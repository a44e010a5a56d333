import type { z } from 'zod';
import { toJson } from '../../core/json.ts';
import { columns, notNull, nullable } from '../../db/columns.ts';
import type { Reader, Transaction } from '../../db/db.ts';
import { type Cipher, decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { parseJsonColumns } from '../../db/json.ts';
import { and, type RowOf, raw, type Sql, sql } from '../../db/sql.ts';
import { nowPlus, nowPlusMinutes } from '../../db/time.ts';
import type { Thread, ThreadExpiry, ThreadField } from '../../schemas/threads.ts';
import { VISIBLE_THREADS, type Visibility, visible } from '../access/visibility.ts';
import { notBeingDeleted, refuseWhileDeleted } from './deletions.ts';

/** Time to live of a thread. */
export interface Ttl {
  /** Deletes the thread, or all but its newest checkpoint. */
  readonly strategy: ThreadExpiry['strategy'];
  /** Minutes from the moment that starts the period. */
  readonly ttl: number;
}

/** Values of `ttl_strategy, ttl_minutes, expires_at`, in this order; the period starts now. */
export function ttlValues(ttl: Ttl | undefined): Sql {
  if (!ttl) return raw('null, null, null');
  return sql`${ttl.strategy}, ${ttl.ttl}, ${nowPlus(ttl.ttl * 60_000)}`;
}

/**
 * For an `update threads set …` that changes a thread's state: with `keep_latest`, each new state restarts the period
 * (contract §12).
 */
export const EXPIRY_AFTER_STATE = sql`expires_at =
  case when ttl_strategy = 'keep_latest' then ${nowPlusMinutes('ttl_minutes')} else expires_at end`;

const EXPIRY = notNull(columns('threads', 'ttl_strategy as strategy, ttl_minutes'));

/** Returns `undefined` for a thread without a TTL. */
export async function threadExpiry(reader: Reader, thread_id: string): Promise<ThreadExpiry | undefined> {
  return reader.get(sql`select ${EXPIRY}, ${columns('threads', 'expires_at')} from threads
    where thread_id = ${thread_id} and ttl_strategy is not null`);
}

/** Fields to read; all if `undefined`. */
export type ThreadSelection = readonly z.infer<typeof ThreadField>[] | undefined;

export const IN_FLIGHT = sql`exists (select 1 from run_queue where run_queue.thread_id = threads.thread_id)`;

/** `busy` is derived, never stored: a thread is busy exactly while one of its runs is in the queue. */
export const STATUS = sql`case when ${IN_FLIGHT} then 'busy' else threads.status end`;

const STORED = columns(
  'threads',
  `threads.thread_id, threads.created_at, threads.updated_at, threads.state_updated_at, threads.metadata,
  threads.config, threads.error, threads.interrupts`,
);
const COLUMNS = sql`${STORED}, ${STATUS} as ${columns('threads', 'status')}`;
const VALUES = nullable(columns('thread_values', 'thread_values.value as "values"'));

export type ThreadRow = RowOf<typeof COLUMNS> & Partial<RowOf<typeof VALUES>>;

/**
 * A whole thread, but `values` only if they are selected: they are by far the largest part. `extraColumns` begins with
 * a comma.
 */
export function selectThreads<Extra>(
  selection: ThreadSelection,
  extraColumns: Sql<Extra>,
): Sql<ThreadRow & Extra> {
  if (selection && !selection.includes('values')) return sql`select ${COLUMNS}${extraColumns} from threads`;
  return sql`select ${COLUMNS}${extraColumns}, ${VALUES} ${FROM_WITH_VALUES}`;
}

/** What is large of a selected thread, and its `from`. */
export function largeOfThread(selection: ThreadSelection): {
  readonly large: readonly Sql[];
  readonly from: Sql;
} {
  const large = ['metadata', 'config', 'error', 'interrupts'].map((name) => raw(`threads.${name}`));
  if (selection && !selection.includes('values')) return { large, from: raw('from threads') };
  return { large: [...large, raw('thread_values.value')], from: FROM_WITH_VALUES };
}

const FROM_WITH_VALUES = raw(
  'from threads left join thread_values on thread_values.thread_id = threads.thread_id',
);

/**
 * Inserts a thread without a state. `import_id`: its history is still to be imported. Returns false if the id is taken. Throws `Unavailable` while the history of an earlier
 * thread with this id is being deleted. On PostgreSQL, only an insert after `lockThreadRow` notices a deletion that was
 * not committed when the transaction began.
 */
export async function insertThread(
  writer: Pick<Transaction, 'run' | 'get' | 'cipher'>,
  thread: Thread,
  ttl?: Ttl,
  import_id?: string,
): Promise<boolean> {
  const inserted = await writer.run(sql`
    insert into threads (thread_id, status, metadata, config, created_at, updated_at, state_updated_at,
      import_id, ttl_strategy, ttl_minutes, expires_at)
    select ${thread.thread_id}, 'idle', ${toJson(thread.metadata)},
      ${writer.cipher.encryptJson(THREAD_COLUMNS.config, toJson(thread.config))}, ${thread.created_at}, ${thread.updated_at}, ${thread.created_at}, ${import_id ?? null}, ${ttlValues(ttl)}
    where ${notBeingDeleted(thread.thread_id)}
    on conflict (thread_id) do nothing`);
  if (inserted === 0) await refuseWhileDeleted(writer, thread.thread_id);
  return inserted > 0;
}

export async function findThread(
  reader: Reader,
  thread_id: string,
  selection?: ThreadSelection,
  visibility?: Visibility,
): Promise<Thread | undefined> {
  const wanted = and([sql`threads.thread_id = ${thread_id}`, visible(VISIBLE_THREADS, visibility)]);
  const row = await reader.get(sql`${selectThreads(selection, raw(''))} where ${wanted}`);
  return row && threadOf(reader.cipher, row);
}

/** Cipher columns of a thread, including its state. */
export const THREAD_COLUMNS = {
  config: 'threads.config',
  error: 'threads.error',
  interrupts: 'threads.interrupts',
  values: 'thread_values.value',
};

/**
 * Before the first run or state update `interrupts` and `error` are absent, afterwards `{}` and null (contract §2.2). A
 * first run that ends without any state leaves an error alone. `values` are absent unless they were selected.
 */
export function threadOf(cipher: Cipher, row: ThreadRow): Thread {
  const parsed = decryptJsonColumns(cipher, parseJsonColumns(row, ['metadata']), THREAD_COLUMNS);
  const { interrupts, error, ...thread } = parsed as typeof parsed & Pick<Thread, 'values'>;
  return interrupts || error ? { ...thread, error, interrupts: interrupts ?? {} } : thread;
}

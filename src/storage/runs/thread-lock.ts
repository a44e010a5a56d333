import type { Rows } from '../../db/column-types.ts';
import { columns } from '../../db/columns.ts';
import type { CommitMode, Db, Transaction } from '../../db/db.ts';
import { isOneOf } from '../../db/json.ts';
import { and, type DialectSql, FOR_UPDATE, raw, type Sql, sql } from '../../db/sql.ts';
import type { CancelAction } from '../../schemas/runs.ts';

/** A run's row in the queue. */
export interface QueueRow {
  readonly run_id: string;
  readonly state: Rows['run_queue']['state'];
  readonly cancel_action: CancelAction | null;
  /** The run created its thread: its end deletes the thread, unless another run uses it. */
  readonly owns_thread: 0 | 1;
}

const ROW = columns('run_queue', 'run_id, state, cancel_action, owns_thread');

/** The head of a thread: the one run that a worker may claim or executes (invariant 1). */
export interface HeadRow extends QueueRow {
  readonly attempt: number;
  readonly lease_token: string | null;
  readonly worker_id: string | null;
  /** Consecutive attempts lost without progress. */
  readonly failures: number;
  readonly losses: number;
  /** Checkpoints of the run at its last loss. */
  readonly supersteps: number;
  /** Stored batches of the current attempt. */
  readonly batches: number;
}

const HEAD = columns(
  'run_queue',
  `run_id, state, cancel_action, owns_thread, attempt, lease_token, worker_id, failures, losses, supersteps,
  batches`,
);

/** A thread whose queue rows are locked against other verbs until the transaction ends. */
export interface LockedThread {
  readonly thread_id: string;
  /** False if the thread does not exist (any more). */
  readonly exists: boolean;
  readonly head: HeadRow | undefined;
}

/**
 * The lock protocol of the queue. Every verb that changes a thread's queue rows begins here, and decides only on what
 * this returns or what it reads afterwards: first it locks the thread's row, then its head. The thread's lock excludes
 * every other such verb; the head's lock excludes the two that skip the thread's, claim and the writes of an attempt,
 * which touch heads alone. Waiting rows need no lock, however many there are.
 * The lock order (cron, thread, head, everything else) is the same everywhere, which rules out deadlocks. Two
 * statements, because on PostgreSQL the second needs a snapshot from after the wait for the first; one round trip.
 */
async function lockThread(tx: Transaction, thread_id: string): Promise<LockedThread> {
  const [exists, head] = await Promise.all([
    lockThreadRow(tx, thread_id),
    tx.get(sql`${headOf(thread_id)}${ofLockedThread(thread_id)} ${FOR_UPDATE}`),
  ]);
  if (exists || tx.dialect === 'sqlite') return { thread_id, exists, head };
  // Inserted since? Then it is locked now, and its head again.
  if (await lockThreadRow(tx, thread_id)) return withHead(tx, thread_id);
  return { ...(await withHead(tx, thread_id)), exists: false };
}

/** A head must not be locked before its thread, not even that of a thread which was inserted a moment ago. */
function ofLockedThread(thread_id: string): DialectSql {
  const isLocked = sql` and exists (select 1 from threads where thread_id = ${thread_id} for update)`;
  return { sqlite: raw(''), postgres: isLocked };
}

/** First half: whether the thread exists. A caller that inserts a missing thread continues with `withHead`. */
export async function lockThreadRow(tx: Transaction, thread_id: string): Promise<boolean> {
  const row = await tx.get(sql`select 1 from threads where thread_id = ${thread_id} ${FOR_UPDATE}`);
  return row !== undefined;
}

/** Second half, under the lock of the thread's row. */
export async function withHead(tx: Transaction, thread_id: string): Promise<LockedThread> {
  const head = await tx.get(sql`${headOf(thread_id)} ${FOR_UPDATE}`);
  return { thread_id, exists: true, head };
}

function headOf(thread_id: string): Sql<HeadRow> {
  return sql`
    select ${HEAD} from run_queue where thread_id = ${thread_id} and state in ('ready', 'running')`;
}

/** One transaction under the lock of a thread. */
export function withThread<T>(
  db: Db,
  durability: CommitMode,
  thread_id: string,
  body: (tx: Transaction, thread: LockedThread) => Promise<T>,
): Promise<T> {
  return db.transaction(durability, async (tx) => body(tx, await lockThread(tx, thread_id)));
}

/** In-flight runs of a locked thread, in queue order; all of them without `run_ids`. */
export function queuedRuns(
  tx: Transaction,
  { thread_id }: Pick<LockedThread, 'thread_id'>,
  run_ids?: readonly string[],
): Promise<QueueRow[]> {
  const wanted = and([sql`thread_id = ${thread_id}`, run_ids && isOneOf('run_id', run_ids)]);
  return tx.all(sql`select ${ROW} from run_queue where ${wanted} order by not_before, seq`);
}

/** True if no run of a locked thread is in flight; none can arrive before the transaction ends. */
export async function isIdle(tx: Transaction, { thread_id, head }: LockedThread): Promise<boolean> {
  if (head) return false;
  return (await tx.get(sql`select 1 from run_queue where thread_id = ${thread_id} limit 1`)) === undefined;
}

import { columns, flag, nullable, number, text } from '../../db/columns.ts';
import type { Db, Transaction } from '../../db/db.ts';
import { DecryptionError } from '../../db/encryption/cipher.ts';
import { forEachRow } from '../../db/rows.ts';
import { list, type RowOf, SKIP_LOCKED, sql } from '../../db/sql.ts';
import { NOW, nowPlus } from '../../db/time.ts';
import type { Run } from '../../schemas/runs.ts';
import type { Lease } from '../runs/lease.ts';
import { MARKER_COLUMNS, markersOf, type RunMarkers } from '../runs/markers.ts';
import { AGENT_COLUMNS, RUN_COLUMNS, type RunAgent, runOf } from '../runs/runs.ts';
import { openThreadLog } from '../runs/thread-log.ts';
import { dueRuns } from './claim-fairly.ts';
import type { QueueContext } from './context.ts';
import { type ExecutorScope, inScope } from './placement.ts';
import type { RetryReason } from './position.ts';
import { requeueUnknown } from './requeue.ts';

export interface Claim {
  readonly worker_id: string;
  /** Fencing token, fresh for each claim: fences every write of the attempts that it starts. */
  readonly token: string;
  readonly limit: number;
  /** All runs without it. */
  readonly scope?: ExecutorScope | undefined;
  /** What the worker is, where several executors share the queue. */
  readonly executor_id?: string | undefined;
}

export interface ClaimedRun {
  readonly lease: Lease;
  readonly run: Run;
  readonly markers: RunMarkers;
  /** The assistant as it was when the run was created. */
  readonly agent: RunAgent;
  /** Id of the API key that created it; null without one. */
  readonly key_id: string | null;
  /** A rider follows its end. */
  readonly announces_end: boolean;
  /** Last sequence number in the run's event log; 0 if it is empty. */
  readonly last_seq: number;
  /** When this attempt was due: the start of its wait for a worker. */
  readonly due_at: string;
  /** Graph hosts whose end it may have caused. */
  readonly host_losses: number;
  /** An earlier attempt left a checkpoint of this run: its input is already applied (invariant 4). */
  readonly has_checkpoint: boolean;
  /** The thread has checkpoints; while the run executes, only its attempt adds any. */
  readonly has_history: boolean;
  /** The newest of the thread's root graph; null before the first. */
  readonly newest_checkpoint_id: string | null;
}

/** Qualified: the statement's other source has a `seq` too. */
const CLAIMED = columns(
  'run_queue',
  `run_queue.run_id, run_queue.thread_id, run_queue.attempt, run_queue.seq, run_queue.not_before, run_queue.priority,
  run_queue.host_losses`,
);
type ClaimedRow = RowOf<typeof CLAIMED>;

/** Here `attempt` counts every start, including refunded ones. */
const STARTED = sql`${RUN_COLUMNS}, ${columns('runs', 'attempt, key_id, announces_end')}, ${MARKER_COLUMNS}, ${AGENT_COLUMNS},
  exists (select 1 from checkpoints c where c.thread_id = cast(runs.thread_id as text)) as ${flag('has_history')},
  (select max(c.checkpoint_id) from checkpoints c where c.thread_id = cast(runs.thread_id as text) and c.ns = '')
    as ${nullable(text('newest_checkpoint_id'))}`;
type StartedRow = RowOf<typeof STARTED>;
type StartedRun = ReturnType<typeof runOf<StartedRow>>;

const LAST_SEQ = nullable(number('last'));

/**
 * Claims due runs in queue order, those with a higher priority first, at most one per thread: the head of a thread is
 * unique. A claim lost to a power failure leaves the run `ready`, so `async` durability suffices. An orphan, a queue
 * row whose run is gone, is removed and reported, and the runs behind it proceed.
 */
export async function claim(context: QueueContext, request: Claim): Promise<ClaimedRun[]> {
  const { db, report } = context;
  const { runs, orphans, turn } = await db.transaction('async', async (tx) => {
    const turn = { ...context.turn };
    return { ...(await claimRows(tx, request, { ...context, turn })), turn };
  });
  Object.assign(context.turn, turn);
  // Separate transactions, which lock the thread first: a claim holds heads, and would invert the lock order.
  await forEachRow(
    orphans,
    async ({ run_id, thread_id, attempt }) => {
      await requeueUnknown(context, { ...request, run_id, thread_id });
      report({ what: 'removed a queue entry without a run', run_id, thread_id, attempt });
    },
    // The worker finds it among its leases, and retries.
    ({ run_id, thread_id, attempt }, error) =>
      report({ what: 'run cannot be recovered', run_id, thread_id, attempt, error }),
  );
  return runs;
}

/**
 * True when runs are ready although a claim has just left slots free: another transaction held their locks, and may
 * release them without a notification. SQLite has a single writer, which never skips a row.
 */
export async function isMoreReady(db: Db, scope?: ExecutorScope): Promise<boolean> {
  return db.dialect !== 'sqlite' && hasReady(db, scope);
}

/** Whether a claim may find a run. One read: for polls, which mostly find none. */
export async function hasReady(db: Db, scope?: ExecutorScope): Promise<boolean> {
  const ready = await db.get(
    sql`select 1 from run_queue where state = 'ready' and not_before <= ${NOW}${inScope(scope)} limit 1`,
  );
  return ready !== undefined;
}

async function claimRows(
  tx: Transaction,
  { worker_id, token, limit, scope, executor_id }: Claim,
  context: QueueContext,
): Promise<{ runs: ClaimedRun[]; orphans: ClaimedRow[] }> {
  const due = await dueRuns(tx, context, limit, scope);
  // Materialised CTE: PostgreSQL may run a plain subquery once per row, and lock and claim other rows each time.
  const claimed = await tx.all(sql`
    with due as materialized (${due} ${SKIP_LOCKED})
    update run_queue set state = 'running', lease_token = ${token}, worker_id = ${worker_id}, attempt = attempt + 1,
      batches = 0
    from due where run_queue.seq = due.seq
    returning ${CLAIMED}`);
  if (claimed.length === 0) return { runs: [], orphans: [] };
  claimed.sort(inQueueOrder);
  const { runs: started, undecryptable } = partitionDecryptable(
    tx,
    await markRunning(tx, claimed, executor_id),
  );
  await defer(tx, undecryptable);
  const first = started.filter((run) => run.attempt === 1 && !run.kwargs.temporary);
  openThreadLog(
    tx,
    first.map((run) => run.run_id),
  );
  const byId = new Map(started.map((run) => [run.run_id, run]));
  const found = claimed.filter((row) => byId.has(row.run_id));
  return {
    runs: await Promise.all(
      found.map((row) => toClaimedRun(tx, row, token, byId.get(row.run_id) as StartedRun)),
    ),
    orphans: claimed.filter((row) => !byId.has(row.run_id) && !undecryptable.includes(row.run_id)),
  };
}

function inQueueOrder(a: ClaimedRow, b: ClaimedRow): number {
  return b.priority - a.priority || Date.parse(a.not_before) - Date.parse(b.not_before) || a.seq - b.seq;
}

function markRunning(
  tx: Transaction,
  taken: ClaimedRow[],
  executor_id: string | undefined,
): Promise<StartedRow[]> {
  return tx.all(sql`
    update runs set status = 'running', started_at = coalesce(started_at, ${NOW}), updated_at = ${NOW},
      attempt = attempt + 1, executor_id = ${executor_id ?? null}
    where run_id in ${list(taken.map((row) => row.run_id))}
    returning ${STARTED}`);
}

async function toClaimedRun(
  tx: Transaction,
  row: ClaimedRow,
  token: string,
  started: StartedRun,
): Promise<ClaimedRun> {
  const {
    attempt: starts,
    key_id,
    is_event_streaming,
    is_of_cron,
    announces_end,
    thread_retention,
    assistant_name,
    assistant_version,
    has_history,
    newest_checkpoint_id,
    ...run
  } = started;
  const lease = { run_id: row.run_id, thread_id: row.thread_id, token, attempt: row.attempt, starts };
  const claimed = {
    ...{ lease, run, key_id, newest_checkpoint_id },
    markers: markersOf(started),
    agent: { assistant_name, assistant_version },
    announces_end: announces_end === 1,
    due_at: row.not_before,
    host_losses: row.host_losses,
    has_history: has_history === 1,
  };
  if (starts === 1) return { ...claimed, last_seq: 0, has_checkpoint: false };
  const [log, checkpoint] = await Promise.all([
    tx.get(sql`select max(seq) as ${LAST_SEQ} from run_events where run_id = ${row.run_id}`),
    // Root namespace only: a subgraph's first checkpoint does not imply that the run's input is applied.
    tx.get(sql`select 1 from checkpoints where run_id = ${row.run_id} and ns = '' limit 1`),
  ]);
  return { ...claimed, last_seq: log?.last ?? 0, has_checkpoint: checkpoint !== undefined };
}

/** Back-off of an undecryptable run, ms: this server must not claim it in a loop; another may have the key. */
const DEFER_MS = 30_000;

/** Separates the runs that decrypt from the ids of the others, whose key is missing or which were changed. */
function partitionDecryptable(
  tx: Transaction,
  rows: readonly StartedRow[],
): { runs: StartedRun[]; undecryptable: string[] } {
  const runs: StartedRun[] = [];
  const undecryptable: string[] = [];
  for (const row of rows) {
    try {
      runs.push(runOf(tx.cipher, row));
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      undecryptable.push(row.run_id);
    }
  }
  return { runs, undecryptable };
}

/** Undoes the claim of these runs and defers them. Who executed them before is not known any more. */
async function defer(tx: Transaction, run_ids: readonly string[]): Promise<void> {
  if (run_ids.length === 0) return;
  await tx.run(sql`
    update run_queue set state = 'ready', lease_token = null, worker_id = null, attempt = attempt - 1,
      not_before = ${nowPlus(DEFER_MS)}, retry_reason = ${'unreadable' satisfies RetryReason}
    where run_id in ${list(run_ids)}`);
  await tx.run(sql`
    update runs set status = 'pending', attempt = attempt - 1, executor_id = null,
      started_at = case when attempt = 1 then null else started_at end
    where run_id in ${list(run_ids)}`);
}

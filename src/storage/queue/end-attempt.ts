import { toJson } from '../../core/json.ts';
import { columns, number } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { NOW, nowPlus } from '../../db/time.ts';
import type { RunError } from '../../schemas/threads.ts';
import { deleteCheckpointsOfRun } from '../checkpoints/delete.ts';
import { EVENT_DATA_COLUMN, type RunOutcome } from '../runs/events.ts';
import { RUN_ERROR_COLUMN } from '../runs/runs.ts';
import type { HeadRow, LockedThread, QueueRow } from '../runs/thread-lock.ts';
import { closeLogs } from '../runs/thread-log.ts';
import { deleteTemporaryThread } from '../threads/delete-temporary.ts';
import { THREAD_COLUMNS } from '../threads/row.ts';
import type { RunWebhookRules } from '../webhooks/run-ended.ts';
import { announceEnd } from './announce-end.ts';
import type { RetryReason } from './position.ts';
import { dequeue, promote } from './promote.ts';

/** When to stop retrying a run that fails repeatedly without progress. */
export interface FailurePolicy {
  /** Consecutive failures without progress. */
  readonly max_attempts: number;
  /** Log retention of a run that ends, ms. */
  readonly log_retention_ms: number;
  /** Error of the run and its thread once the attempts are exhausted. */
  readonly exhausted: RunError;
}

export interface AttemptEnd {
  readonly reason: RetryReason;
  /** Does not count this attempt: the next one reuses its number. */
  readonly refund: boolean;
  /** Back-off before the next claim, ms. After a failure: none for the first loss, doubled from the third on. */
  readonly delay_ms: number;
  /** Set if the attempt failed, by the run's own fault or its neighbour's; `undefined` if the server decided. */
  readonly failure?: FailurePolicy | undefined;
}

/** `ready`: claimable again. `ended`: cancelled, or out of attempts. `stray`: the run's row is gone. */
export interface AttemptEndResult {
  readonly outcome: 'ready' | 'ended' | 'stray';
  /** The thread has a run that a worker can claim now. */
  readonly promoted: boolean;
  /** The run ended, and a rider follows its end. */
  readonly announces_end: boolean;
}

const ANNOUNCES_END = columns('runs', 'announces_end');

/**
 * Checkpoints that exist before any node completes: one for the input and one for the first step. Only checkpoints
 * beyond these count as progress.
 */
const INITIAL_SUPERSTEPS = 2;
/** Cap on losses despite progress, as a multiple of `max_attempts`: beyond it the run is to blame. */
const MAX_LOSSES_FACTOR = 10;
const MAX_BACKOFF_MS = 10 * 60_000;

/** Part of a transaction that holds the thread lock: the head's attempt has ended without a result of the run. */
export async function endAttempt(
  tx: Transaction,
  thread: LockedThread,
  head: HeadRow,
  how: AttemptEnd,
  webhooks: RunWebhookRules,
): Promise<AttemptEndResult> {
  const rules = { log_retention_ms: how.failure?.log_retention_ms ?? ORPHAN_LOG_MS, webhooks };
  if (head.cancel_action !== null) {
    const status = head.cancel_action === 'rollback' ? 'rollback' : 'interrupted';
    // Before the run is deleted with its thread. A run that is rolled back is gone already.
    const row = await tx.get(sql`select ${ANNOUNCES_END} from runs where run_id = ${head.run_id}`);
    const promoted = await endRun(tx, thread, head, { status }, rules);
    return { outcome: 'ended', promoted, announces_end: row?.announces_end === 1 };
  }
  const run = await tx.get(
    sql`update runs set status = 'pending' where run_id = ${head.run_id} returning ${ANNOUNCES_END}`,
  );
  if (!run) {
    const promoted = await endRun(tx, thread, head, { status: 'interrupted' }, rules);
    return { outcome: 'stray', promoted, announces_end: false };
  }
  const { failures, losses, supersteps } = how.failure ? await chargeFailure(tx, head) : head;
  const last = how.failure && terminalError(how.failure, failures, losses);
  if (last) {
    await failRun(tx, thread, head, last);
    const ending = { status: 'error', error: last.message } as const;
    const promoted = await endRun(tx, thread, head, ending, rules);
    return { outcome: 'ended', promoted, announces_end: run.announces_end === 1 };
  }
  const delay_ms = how.failure ? backoffMs(how.delay_ms, losses) : how.delay_ms;
  await tx.run(sql`
    update run_queue set state = 'ready', lease_token = null, worker_id = null, batches = 0,
      attempt = attempt - ${how.refund ? 1 : 0}, failures = ${failures}, losses = ${losses}, supersteps = ${supersteps},
      host_losses = host_losses + ${how.reason === 'host lost' ? 1 : 0},
      not_before = ${nowPlus(delay_ms)}, retry_reason = ${how.reason}
    where run_id = ${head.run_id}`);
  return { outcome: 'ready', promoted: delay_ms <= 0, announces_end: false };
}

/** Log retention without a failure policy, ms: no client follows a run that is gone for long. */
const ORPHAN_LOG_MS = 5 * 60_000;

/** Resets `failures` if the attempt completed a superstep: a run that makes progress is not stuck. */
async function chargeFailure(tx: Transaction, head: HeadRow) {
  const row = await tx.get(
    sql`select count(*) as ${number('n')} from checkpoints where run_id = ${head.run_id} and ns = ''`,
  );
  const reached = Math.max(row?.n ?? 0, INITIAL_SUPERSTEPS);
  const before = Math.max(head.supersteps, INITIAL_SUPERSTEPS);
  return {
    failures: reached > before ? 0 : head.failures + 1,
    losses: head.losses + 1,
    supersteps: reached,
  };
}

/** The error that ends the run; `undefined` while it may be retried. */
function terminalError(
  { max_attempts, exhausted }: FailurePolicy,
  failures: number,
  losses: number,
): RunError | undefined {
  return failures >= max_attempts || losses >= max_attempts * MAX_LOSSES_FACTOR ? exhausted : undefined;
}

function backoffMs(first_ms: number, losses: number): number {
  return losses <= 1 ? 0 : Math.min(first_ms * 2 ** Math.min(losses - 2, 30), MAX_BACKOFF_MS);
}

/** Part of a transaction that holds the thread lock: run and thread have this error; `endRun` does the rest. */
export async function failRun(
  tx: Transaction,
  { thread_id }: LockedThread,
  { run_id }: Pick<HeadRow, 'run_id'>,
  exhausted: RunError,
): Promise<void> {
  const { cipher } = tx;
  const error = toJson(exhausted);
  await tx.run(sql`
    insert into run_events (run_id, seq, event, data)
    select run_id, (select coalesce(max(seq), 0) + 1 from run_events where run_id = ${run_id}), 'error',
      ${cipher.encryptText(EVENT_DATA_COLUMN, error)}
    from runs where run_id = ${run_id}`);
  await tx.run(sql`update runs set status = 'error', error = ${cipher.encryptJson(RUN_ERROR_COLUMN, error)}, updated_at = ${NOW}, ended_at = ${NOW}
    where run_id = ${run_id}`);
  await tx.run(sql`update threads set status = 'error', error = ${cipher.encryptJson(THREAD_COLUMNS.error, error)}, updated_at = ${NOW}
    where thread_id = ${thread_id}`);
}

export interface EndRules {
  /** Log retention of the run, ms. */
  readonly log_retention_ms: number;
  readonly webhooks: RunWebhookRules;
}

/**
 * Ends a run that no worker can end: its worker is lost, or only its queue row is left. Its own row already has its
 * final status. Does everything that `finish` does except for the thread's state: webhook, cron history, end of the
 * log, temporary thread, promotion. Returns true if a run became ready.
 */
export async function endRun(
  tx: Transaction,
  { thread_id }: LockedThread,
  { run_id, owns_thread }: Pick<QueueRow, 'run_id' | 'owns_thread'>,
  ending: RunOutcome,
  { log_retention_ms, webhooks }: EndRules,
): Promise<boolean> {
  const { status } = ending;
  dequeue(tx, run_id);
  const ended = { run_id, status, error: null, values: 'kept' } as const;
  await announceEnd(tx, ended, webhooks, { has_webhook: true, of_cron: true });
  if (status === 'rollback') await deleteCheckpointsOfRun(tx, thread_id, run_id);
  closeLogs(tx, { run_id, thread_id }, ending, log_retention_ms);
  const remains = status === 'rollback' ? undefined : { run_id, log_retention_ms };
  if (owns_thread && (await deleteTemporaryThread(tx, thread_id, remains))) return false;
  return promote(tx, thread_id);
}

import { toJson } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Deferred, Transaction } from '../../db/db.ts';
import { raw, sql } from '../../db/sql.ts';
import type { CancelAction, RunStatus } from '../../schemas/runs.ts';
import type { PricedStep } from '../../schemas/steps.ts';
import type { Interrupt, ResumeRefusal, RunError, ThreadStatus } from '../../schemas/threads.ts';
import { deleteCheckpointsOfRun } from '../checkpoints/delete.ts';
import { recordCronRunEnd } from '../crons/crons.ts';
import { type Batch, writeBatch } from '../runs/batch.ts';
import { closeRunLog, type RunOutcome, refusalOf } from '../runs/events.ts';
import { heldHead, isNextBatch, isRepeatedBatch, type Lease } from '../runs/lease.ts';
import { RUN_ERROR_COLUMN } from '../runs/runs.ts';
import { insertSteps, modelCalls } from '../runs/steps.ts';
import { type HeadRow, withThread } from '../runs/thread-lock.ts';
import { closeThreadLog } from '../runs/thread-log.ts';
import { deleteTemporaryThread } from '../threads/delete.ts';
import { EXPIRY_AFTER_STATE, THREAD_COLUMNS } from '../threads/row.ts';
import { encryptSummary, type SerializedState } from '../threads/values-summary.ts';
import { type EndedRun, enqueueRunEnd } from '../webhooks/run-ended.ts';
import type { QueueContext } from './context.ts';
import { promotion } from './promote.ts';
import { isStillPending, undoAnswer, withdrawAnswers } from './refused-answer.ts';

/** State of the thread after the run. */
export interface ThreadAfterRun {
  /** Applies when no other run is in flight. */
  readonly status: Exclude<ThreadStatus, 'busy'>;
  /** Null leaves the values unchanged: the run produced no state. */
  readonly values: SerializedState | null;
  readonly interrupts: Record<string, readonly Interrupt[]>;
  readonly config: Record<string, unknown>;
}

export interface RunEnd {
  readonly status: RunStatus;
  readonly error: RunError | null;
  readonly thread: ThreadAfterRun;
  /** Why the answer of the run was refused: its thread keeps what it asked. */
  readonly refused?: ResumeRefusal['reason'] | undefined;
  /** The run has a webhook. */
  readonly has_webhook?: boolean;
  /** A cron created the run. */
  readonly of_cron?: boolean;
  /** Output of the attempt that is not stored yet. */
  readonly batch: Batch;
  /** ISO-8601. */
  readonly at: string;
  /** Log retention from now on, ms. */
  readonly log_retention_ms: number;
  /** The run created its thread for itself: delete the thread too. */
  readonly remove_thread: boolean;
  /** Lines that the run printed may be stored. */
  readonly has_lines?: boolean;
}

export type FinishResult =
  | { readonly outcome: 'lease lost' }
  /** The database lost earlier writes of the attempt in a crash: the run resumes from what is stored. */
  | { readonly outcome: 'writes lost' }
  | { readonly outcome: 'finished'; readonly ending: RunOutcome; readonly promoted: boolean };

/**
 * Ends a run in one commit: its status, its thread, the end of its log, its webhook delivery, its queue row and the
 * next run of the thread (engine §2). An earlier cancel decides the status, whatever the result of the attempt.
 */
export async function finish(context: QueueContext, lease: Lease, end: RunEnd): Promise<FinishResult> {
  const { next, ...result } = await finishIn(context, lease, end);
  // Known only now: on PostgreSQL the promotion goes with the commit.
  return result.outcome === 'finished'
    ? { ...result, promoted: next !== undefined && next.changes > 0 }
    : result;
}

type Finished =
  | { readonly outcome: 'lease lost' | 'writes lost'; readonly next?: undefined }
  | { readonly outcome: 'finished'; readonly ending: RunOutcome; readonly next: Deferred | undefined };

function finishIn({ db, webhooks, riders }: QueueContext, lease: Lease, end: RunEnd): Promise<Finished> {
  const { run_id, thread_id } = lease;
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    const head = heldHead(lease, thread);
    if (!head) return { outcome: 'lease lost' };
    const status = head.cancel_action === null ? end.status : cancelledStatus(head.cancel_action);
    // A cancelled run ends even with a gap: no attempt resumes from its last writes.
    const isContiguous = isNextBatch(end.batch, head);
    if (!isContiguous && head.cancel_action === null) return { outcome: 'writes lost' };
    tx.defer(sql`delete from run_queue where run_id = ${run_id}`);
    if (end.has_webhook) await enqueueRunEnd(tx, endedRun(lease, status, end), webhooks);
    if (end.of_cron && status !== 'rollback') recordCronRunEnd(tx, run_id, status);
    const counted = isContiguous ? await countCalls(tx, lease, head, { ...end, status }) : [];
    const printed = end.has_lines && status !== 'rollback' ? { ...end, run_id } : undefined;
    const removed = end.remove_thread && (await deleteTemporaryThread(tx, thread_id, printed));
    if (!removed && status === 'rollback') await deleteCheckpointsOfRun(tx, thread_id, run_id);
    const leaves_thread = end.refused !== undefined && (await leavesThread(tx, lease, end));
    if (!removed && status !== 'rollback')
      await updateRunAndThread(tx, lease, head, { ...end, status, leaves_thread });
    const batch = removed ? ofRemovedRun(end) : end.batch;
    // `countCalls` has stored those of a run that was to remove its thread: if the thread stays, this is the second time.
    const isRepeated = end.remove_thread || isRepeatedBatch(batch, head);
    const isStored = status !== 'rollback' && isContiguous;
    const written = isStored ? await writeBatch(tx, lease, batch, isRepeated) : [];
    await riders.flushed(tx, { ...lease, calls: [...counted, ...written], cargo: batch.cargo });
    // After the last writes of the run.
    if (leaves_thread) await undoAnswer(tx, lease);
    const outcome = outcomeOf(status, end);
    closeRunLog(tx, run_id, outcome, end.log_retention_ms);
    closeThreadLog(tx, thread_id, run_id);
    const next = removed ? undefined : tx.defer(promotion(thread_id));
    return { outcome: 'finished', ending: outcome, next };
  });
}

/** A refused answer is not on record, and leaves the thread as it was unless another answer of the run was accepted. */
async function leavesThread(tx: Transaction, lease: Lease, { refused, thread }: RunEnd): Promise<boolean> {
  const { interrupts, values } = thread;
  // A schema refuses what other answers of the run may have passed. The state is unknown if it cannot be read.
  const mayBePart = refused === 'invalid' && values !== null;
  const leaves_thread = !mayBePart || (await isStillPending(tx, lease.thread_id, interrupts));
  withdrawAnswers(tx, lease, leaves_thread ? undefined : interrupts);
  return leaves_thread;
}

/** Its checkpoints and steps are deleted with the thread. */
function ofRemovedRun({ batch, log_retention_ms }: RunEnd): Batch {
  const writes = batch.writes.flatMap(({ ofRemovedRun: write }) =>
    write ? (tx: Transaction) => write(tx, log_retention_ms) : [],
  );
  return { ...batch, writes, steps: [], attempt: undefined };
}

/**
 * The calls of models that count although their steps are deleted now with the thread, or were when the run was rolled
 * back. None that were stored before, which count already.
 */
async function countCalls(
  tx: Transaction,
  lease: Lease,
  head: HeadRow,
  {
    status,
    remove_thread,
    batch,
  }: Pick<RunEnd, 'remove_thread' | 'batch'> & { status: RunOutcome['status'] },
): Promise<readonly PricedStep[]> {
  const calls = modelCalls(batch.steps);
  const isRepeated = isRepeatedBatch(batch, head);
  if (status === 'rollback') return isRepeated ? [] : calls;
  return remove_thread ? insertSteps(tx, lease, calls, isRepeated) : [];
}

function endedRun({ run_id }: Lease, status: RunOutcome['status'], { error, thread, at }: RunEnd): EndedRun {
  return { run_id, status, error, values: thread.values?.text ?? null, at };
}

function outcomeOf(status: RunOutcome['status'], { error, thread }: RunEnd): RunOutcome {
  if (status === 'success') return thread.status === 'interrupted' ? { status, waits: true } : { status };
  if (status !== 'error' && status !== 'timeout') return { status };
  const refusal = refusalOf(error);
  return { status, error: error?.message || status, ...(refusal && { refusal }) };
}

function cancelledStatus(action: CancelAction): RunStatus | 'rollback' {
  return action === 'rollback' ? 'rollback' : 'interrupted';
}

const ERROR = columns('runs', 'error');

async function updateRunAndThread(
  tx: Transaction,
  lease: Lease,
  { cancel_action }: HeadRow,
  end: RunEnd & { readonly leaves_thread: boolean },
): Promise<void> {
  const thrown = end.error && toJson(end.error);
  const failure = thrown && tx.cipher.encryptJson(RUN_ERROR_COLUMN, thrown);
  const update = sql`
    update runs set status = ${end.status}, error = coalesce(error, ${failure}),
      updated_at = ${end.at}, ended_at = ${end.at}
    where run_id = ${lease.run_id}`;
  let error = thrown;
  if (cancel_action === null) tx.defer(update);
  else {
    // The error stored by a cancel takes precedence over what the stopped attempt threw.
    const row = await tx.get(sql`${update} returning ${ERROR}`);
    error = row?.error ? tx.cipher.decryptJson(RUN_ERROR_COLUMN, row.error) : null;
  }
  if (end.leaves_thread) return;
  updateThread(tx, lease.thread_id, end.thread, end.refused ? null : error, end.at);
}

function updateThread(
  tx: Transaction,
  thread_id: string,
  thread: ThreadAfterRun,
  error: string | null,
  at: string,
): void {
  const { cipher } = tx;
  const summary = thread.values
    ? sql`${encryptSummary(cipher, thread.values.summary)}`
    : raw('values_summary');
  tx.defer(sql`
    update threads set status = ${thread.status}, error = ${error && cipher.encryptJson(THREAD_COLUMNS.error, error)},
      interrupts = ${cipher.encryptJson(THREAD_COLUMNS.interrupts, toJson(thread.interrupts))},
      config = ${cipher.encryptJson(THREAD_COLUMNS.config, toJson(thread.config))}, values_summary = ${summary}, updated_at = ${at}, state_updated_at = ${at},
      ${EXPIRY_AFTER_STATE}
    where thread_id = ${thread_id}`);
  if (thread.values === null) return;
  tx.defer(sql`
    insert into thread_values (thread_id, value) values (${thread_id}, ${cipher.encryptJson(THREAD_COLUMNS.values, thread.values.text)})
    on conflict (thread_id) do update set value = excluded.value`);
}

import { toJson } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../db/db.ts';
import { and, list, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import type { CancelAction } from '../../schemas/runs.ts';
import type { RunError } from '../../schemas/threads.ts';
import { threadVisible, type Visibility } from '../access/visibility.ts';
import { deleteCheckpointsOfRun } from '../checkpoints/delete.ts';
import { recordCronRunEnd } from '../crons/crons.ts';
import { RUN_ERROR_COLUMN } from '../runs/runs.ts';
import { deleteStepsOfRuns } from '../runs/step-deletion.ts';
import { type LockedThread, type QueueRow, queuedRuns, withThread } from '../runs/thread-lock.ts';
import { closeLogs } from '../runs/thread-log.ts';
import { deleteTemporaryThread } from '../threads/delete-temporary.ts';
import { type EndedRun, enqueueRunEnd, type RunWebhookRules } from '../webhooks/run-ended.ts';
import type { QueueContext } from './context.ts';
import { promote } from './promote.ts';

export interface Cancellation {
  readonly action: CancelAction;
  readonly error: RunError;
  /** The run's `cancel_reason`; defaults to the error's message. */
  readonly reason?: string;
  /** Log retention of a run that never started, ms. */
  readonly log_retention_ms: number;
}

export interface Cancelled {
  /** Running: notify their workers, which release the lease once they have stopped. */
  readonly stopping: string[];
  /** Not running: removed from the queue. */
  readonly ended: string[];
  /** The one of those that may have been started before, and have left a state and a delivery. */
  readonly begun: string | undefined;
  /** Those whose end a rider follows. */
  readonly announced: string[];
  /** Another run of the thread became ready. */
  readonly promoted: boolean;
}

export interface InFlightRun {
  readonly run_id: string;
  readonly thread_id: string;
}

const STATUS_CONDITION = {
  pending: sql`state <> 'running'`,
  running: sql`state = 'running'`,
  all: sql`true`,
};

/** Up to `limit` in-flight runs on visible threads that are not cancelled yet, oldest first. */
export function findInFlight(
  db: Db,
  status: keyof typeof STATUS_CONDITION,
  limit: number,
  visibility?: Visibility,
): Promise<InFlightRun[]> {
  const wanted = and([
    sql`cancel_action is null`,
    STATUS_CONDITION[status],
    threadVisible('run_queue.thread_id', visibility),
  ]);
  return db.all(sql`
    select ${columns('run_queue', 'run_id, thread_id')} from run_queue
    where ${wanted} order by seq limit ${limit}`);
}

/** In-flight runs of a thread, in queue order. For messages only: a verb reads them under the thread lock. */
export async function inFlightOnThread(reader: Reader, thread_id: string): Promise<string[]> {
  const rows = await reader.all(sql`
    select ${columns('run_queue', 'run_id')} from run_queue
    where thread_id = ${thread_id} order by not_before, seq`);
  return rows.map(({ run_id }) => run_id);
}

/**
 * Cancels those of the named runs that are in flight, in `status`, and not cancelled yet. A running run remains the head
 * of its thread until its worker releases it, although its public status changes immediately (contract §3). `spared`:
 * how many are in flight, but not in `status`.
 */
export function cancelRuns(
  { db, webhooks }: QueueContext,
  thread_id: string,
  run_ids: string[],
  how: Cancellation,
  status: keyof typeof STATUS_CONDITION = 'all',
): Promise<Cancelled & { readonly spared: number }> {
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    const found = thread.exists ? await queuedRuns(tx, thread, run_ids) : [];
    const rows = found.filter(
      ({ state }) => status === 'all' || (state === 'running') === (status === 'running'),
    );
    const spared = found.length - rows.length;
    const cancelled = await cancelRows(tx, thread, rows, how, webhooks);
    const own = rows.find(({ run_id, owns_thread }) => owns_thread && cancelled.ended.includes(run_id));
    const removed = own && (await deleteTemporaryThread(tx, thread_id, { ...how, run_id: own.run_id }));
    return { ...cancelled, spared, promoted: !removed && thread.exists && (await promote(tx, thread_id)) };
  });
}

/** Part of a transaction that holds the thread lock: `cancelRuns`, or a multitask strategy. */
export async function cancelRows(
  tx: Transaction,
  { thread_id }: Pick<LockedThread, 'thread_id'>,
  rows: readonly QueueRow[],
  how: Cancellation,
  webhooks: RunWebhookRules,
): Promise<Omit<Cancelled, 'promoted'>> {
  const live = rows.filter((row) => row.cancel_action === null);
  const stopping = live.filter((row) => row.state === 'running').map((row) => row.run_id);
  const ended = live.filter((row) => row.state !== 'running').map((row) => row.run_id);
  const announced = await announcedOf(tx, ended);
  if (stopping.length > 0) {
    await tx.run(sql`update run_queue set cancel_action = ${how.action} where run_id in ${list(stopping)}`);
  }
  if (ended.length > 0) {
    await tx.run(sql`delete from run_queue where run_id in ${list(ended)}`);
    await withdrawAnswers(tx, ended);
  }
  for (const run_id of ended) {
    // A requeued run has started before, and has an open entry in the thread's log.
    closeLogs(tx, { run_id, thread_id }, { status: 'interrupted' }, how.log_retention_ms);
  }
  const all = [...stopping, ...ended];
  if (all.length > 0) {
    if (how.action === 'interrupt') await markInterrupted(tx, all, how);
    // A running run reports its end when it is released; a rollback leaves no row to report later.
    await enqueueEnds(tx, how.action === 'interrupt' ? ended : all, how, webhooks);
    if (how.action === 'rollback') await deleteRuns(tx, thread_id, all);
    else for (const run_id of ended) recordCronRunEnd(tx, run_id, 'interrupted');
  }
  // Only the head of a thread has been claimed.
  const begun = live.find((row) => row.state === 'ready')?.run_id;
  return { stopping, ended, begun, announced };
}

/** The thread still waits for the answers of runs that never began. */
async function withdrawAnswers(tx: Transaction, run_ids: readonly string[]): Promise<void> {
  await tx.run(sql`delete from interrupt_answers
    where run_id in (select run_id from runs where run_id in ${list(run_ids)} and started_at is null)`);
}

async function announcedOf(tx: Transaction, run_ids: readonly string[]): Promise<string[]> {
  if (run_ids.length === 0) return [];
  const rows = await tx.all(sql`
    select ${columns('runs', 'run_id')} from runs where run_id in ${list(run_ids)} and announces_end = 1`);
  return rows.map(({ run_id }) => run_id);
}

function markInterrupted(
  tx: Transaction,
  run_ids: string[],
  { error, reason = error.message }: Cancellation,
): Promise<number> {
  return tx.run(sql`update runs set status = 'interrupted', error = ${tx.cipher.encryptJson(RUN_ERROR_COLUMN, toJson(error))}, cancel_reason = ${reason},
    updated_at = ${NOW}, ended_at = ${NOW} where run_id in ${list(run_ids)}`);
}

async function enqueueEnds(
  tx: Transaction,
  run_ids: readonly string[],
  { action, error }: Cancellation,
  webhooks: RunWebhookRules,
): Promise<void> {
  for (const run_id of run_ids) {
    const ended: EndedRun =
      action === 'rollback'
        ? { run_id, status: 'rollback', error, values: null }
        : { run_id, status: 'interrupted', error, values: 'kept' };
    await enqueueRunEnd(tx, ended, webhooks);
  }
}

async function deleteRuns(tx: Transaction, thread_id: string, run_ids: string[]): Promise<void> {
  for (const run_id of run_ids) await deleteCheckpointsOfRun(tx, thread_id, run_id);
  await deleteStepsOfRuns(tx, thread_id, run_ids);
  await tx.run(sql`delete from runs where run_id in ${list(run_ids)}`);
}

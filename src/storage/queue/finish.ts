import { toJson } from '../../core/json.ts';
import type { Deferred } from '../../db/db.ts';
import type { RunStatus } from '../../schemas/runs.ts';
import type { ResumeRefusal, RunError } from '../../schemas/threads.ts';
import type { Batch } from '../runs/batch.ts';
import { endRow } from '../runs/end-run.ts';
import { type RunOutcome, refusalOf } from '../runs/events.ts';
import { heldHead, isNextBatch, type Lease } from '../runs/lease.ts';
import { type HeadRow, withThread } from '../runs/thread-lock.ts';
import { closeLogs } from '../runs/thread-log.ts';
import { type Removal, removeAfterRun, type ThreadAfterRun, updateAfterRun } from '../threads/after-run.ts';
import { type Announced, announceEnd } from './announce-end.ts';
import type { QueueContext } from './context.ts';
import { countCalls, writeLastBatch } from './last-batch.ts';
import { dequeue, promotion } from './promote.ts';
import { leavesThread, undoAnswer } from './refused-answer.ts';

export interface RunEnd extends Announced, Removal {
  readonly status: RunStatus;
  readonly error: RunError | null;
  readonly thread: ThreadAfterRun;
  /** Why the answer of the run was refused: its thread keeps what it asked. */
  readonly refused?: ResumeRefusal['reason'] | undefined;
  /** Output of the attempt that is not stored yet. */
  readonly batch: Batch;
  /** ISO-8601. */
  readonly at: string;
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
    // A cancelled run ends even with a gap: no attempt resumes from its last writes.
    if (head.cancel_action === null && !isNextBatch(end.batch, head)) return { outcome: 'writes lost' };
    const status = statusOf(head, end);
    const values = end.thread.values?.text ?? null;
    const last = { ...end, status };

    dequeue(tx, run_id);
    await announceEnd(tx, { run_id, status, error: end.error, values, at: end.at }, webhooks, end);
    const counted = await countCalls(tx, lease, head, last);
    const stored =
      status === 'rollback' ? undefined : { status, error: end.error && toJson(end.error), at: end.at };
    const isRemoved = await removeAfterRun(tx, lease, end, stored);
    const leaves_thread = await leavesThread(tx, lease, end);
    if (!isRemoved && stored) {
      const error = await endRow(tx, head, { ...end, status: stored.status });
      if (!leaves_thread) updateAfterRun(tx, thread_id, end.thread, end.refused ? null : error, end.at);
    }
    const written = await writeLastBatch(tx, lease, head, last, isRemoved);
    await riders.flushed(tx, { ...lease, calls: [...counted, ...written], cargo: end.batch.cargo });
    // After the last writes of the run.
    if (leaves_thread) await undoAnswer(tx, lease);
    const ending = outcomeOf(status, end);
    closeLogs(tx, lease, ending, end.log_retention_ms);
    const next = isRemoved ? undefined : tx.defer(promotion(thread_id));
    return { outcome: 'finished', ending, next };
  });
}

function statusOf({ cancel_action }: HeadRow, { status }: RunEnd): RunOutcome['status'] {
  if (cancel_action === null) return status;
  return cancel_action === 'rollback' ? 'rollback' : 'interrupted';
}

function outcomeOf(status: RunOutcome['status'], { error, thread }: RunEnd): RunOutcome {
  if (status === 'success') return thread.status === 'interrupted' ? { status, waits: true } : { status };
  if (status !== 'error' && status !== 'timeout') return { status };
  const refusal = refusalOf(error);
  return { status, error: error?.message || status, ...(refusal && { refusal }) };
}

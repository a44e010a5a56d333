import { type Batch, flushBatch } from '../runs/batch.ts';
import { heldHead, isNextBatch, isRepeatedBatch, type Lease } from '../runs/lease.ts';
import { withThread } from '../runs/thread-lock.ts';
import type { QueueContext } from './context.ts';
import { type AttemptEndResult, endAttempt, type FailurePolicy } from './end-attempt.ts';
import type { RetryReason } from './position.ts';

export interface RequeueOptions {
  /** False refunds the attempt: the server is stopping, and the run is not at fault (engine §2). */
  readonly charge: boolean;
  /** Delay before the next claim, ms. */
  readonly delay_ms: number;
  /** Output of the attempt that is not stored yet. */
  readonly batch: Batch;
  /** The clock of the worker was behind the thread's newest checkpoint. */
  readonly is_clock_behind?: boolean;
  /** Set if the attempt failed: too many failures end the run. `undefined` if the server is to blame, or storage was away. */
  readonly failure?: FailurePolicy | undefined;
  /** What failed, or moved the run elsewhere. */
  readonly failure_of?: 'graph host' | 'storage' | undefined;
}

/**
 * Returns an unfinished run to the queue: it remains the head of its thread, or ends if it failed too often. Returns
 * `undefined`, and changes nothing, if the lease is lost or the run was cancelled.
 */
export async function requeue(
  { db, webhooks, riders }: QueueContext,
  lease: Lease,
  options: RequeueOptions,
): Promise<AttemptEndResult | undefined> {
  const { charge, delay_ms, batch, failure } = options;
  return withThread(db, 'sync', lease.thread_id, async (tx, thread) => {
    const head = heldHead(lease, thread);
    if (!head || head.cancel_action !== null) return undefined;
    // Stores the output, so that the next attempt and stream readers resume after it, but never beyond a gap.
    if (isNextBatch(batch, head)) await flushBatch(tx, lease, batch, riders, isRepeatedBatch(batch, head));
    const reason = reasonOf(options);
    return endAttempt(tx, thread, head, { reason, refund: !charge, delay_ms, failure }, webhooks);
  });
}

function reasonOf({ charge, is_clock_behind, failure, failure_of }: RequeueOptions): RetryReason {
  if (is_clock_behind) return 'clock behind';
  if (failure_of === 'graph host') return charge ? 'host lost' : 'host left';
  if (failure && failure_of === undefined) return 'attempt broke';
  return charge ? 'storage failed' : 'server stopped';
}

/** A lease that its holder does not know: the response to its claim was lost. */
export interface UnknownLease {
  readonly worker_id: string;
  readonly run_id: string;
  readonly thread_id: string;
  readonly token: string;
}

/**
 * Returns a claimed run that its worker does not execute to the queue, or removes its queue row if the run is gone.
 * Returns `undefined` if the lease has changed since.
 */
export function requeueUnknown(
  { db, webhooks }: QueueContext,
  { run_id, thread_id, token }: UnknownLease,
): Promise<AttemptEndResult | undefined> {
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    const head = heldHead({ run_id, token }, thread);
    if (!head) return undefined;
    return endAttempt(tx, thread, head, { reason: 'claim lost', refund: true, delay_ms: 0 }, webhooks);
  });
}

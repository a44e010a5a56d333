import { heldHead, isNextBatch, type Lease } from '../runs/lease.ts';
import { withThread } from '../runs/thread-lock.ts';
import { type Batch, writeBatch } from '../runs/write-buffer.ts';
import type { QueueContext } from './context.ts';
import { type AttemptEndResult, endAttempt, type FailurePolicy } from './end-attempt.ts';

export interface RequeueOptions {
  /** False does not count the attempt: the server is stopping, the run did nothing wrong (ENGINE §2). */
  readonly charge: boolean;
  /** How long before a worker may take it again, ms. */
  readonly delay_ms: number;
  /** What the attempt produced and storage does not hold yet. */
  readonly batch: Batch;
  /** The attempt broke: after too many of these the run ends. Undefined when storage or the server is to blame. */
  readonly failure?: FailurePolicy | undefined;
}

/**
 * Gives a run back unfinished: it keeps the head of its thread, or ends when it failed too often. False when the lease
 * is lost or the run was cancelled, and then nothing is changed.
 */
export function requeue(
  { db, webhooks }: QueueContext,
  lease: Lease,
  { charge, delay_ms, batch, failure }: RequeueOptions,
): Promise<boolean> {
  return withThread(db, 'sync', lease.thread_id, async (tx, thread) => {
    const head = heldHead(lease, thread);
    if (!head || head.cancel_action !== null) return false;
    // What was produced is kept, so that the next attempt and the followers go on after it; but not behind a gap.
    if (isNextBatch(batch, head)) await writeBatch(tx, lease.run_id, batch);
    const reason = failure ? 'attempt broke' : charge ? 'storage failed' : 'server stopped';
    await endAttempt(tx, thread, head, { reason, refund: !charge, delay_ms, failure }, webhooks);
    return true;
  });
}

/** A lease whose holder has never heard of it: the answer to its claim was lost. */
export interface UnknownLease {
  readonly worker_id: string;
  readonly run_id: string;
  readonly thread_id: string;
  readonly token: string;
}

/**
 * Gives back a run that was claimed for a worker which does not execute it, or removes its place in the queue when the
 * run is gone. Undefined when the lease is another one by now.
 */
export function requeueUnknown(
  { db, webhooks }: QueueContext,
  { run_id, thread_id, token }: UnknownLease,
): Promise<AttemptEndResult | undefined> {
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    const head = heldHead({ run_id, thread_id, token, attempt: 0 }, thread);
    if (!head) return undefined;
    return endAttempt(tx, thread, head, { reason: 'claim lost', refund: true, delay_ms: 0 }, webhooks);
  });
}

import type { Transaction } from '../../db/db.ts';
import type { PricedStep } from '../../schemas/steps.ts';
import { type Batch, writeBatch } from '../runs/batch.ts';
import type { RunOutcome } from '../runs/events.ts';
import { isNextBatch, isRepeatedBatch, type Lease } from '../runs/lease.ts';
import { insertSteps, modelCalls } from '../runs/steps.ts';
import type { HeadRow } from '../runs/thread-lock.ts';

/** What an attempt has not stored when its run ends. */
export interface LastBatch {
  readonly batch: Batch;
  readonly status: RunOutcome['status'];
  /** The run created its thread for itself: its end deletes the thread, unless another run uses it. */
  readonly remove_thread: boolean;
  /** Log retention from now on, ms. */
  readonly log_retention_ms: number;
}

/**
 * Before the thread may be deleted: the calls of models that count although their steps are deleted now with it, or were
 * when the run was rolled back. None that were stored before, which count already.
 */
export async function countCalls(
  tx: Transaction,
  lease: Lease,
  head: HeadRow,
  { batch, status, remove_thread }: LastBatch,
): Promise<readonly PricedStep[]> {
  if (!isNextBatch(batch, head)) return [];
  const calls = modelCalls(batch.steps);
  const isRepeated = isRepeatedBatch(batch, head);
  if (status === 'rollback') return isRepeated ? [] : calls;
  return remove_thread ? insertSteps(tx, lease, calls, isRepeated) : [];
}

/** Stores what is left of the run; of one that was removed with its thread, only its log. Returns the calls that are new. */
export async function writeLastBatch(
  tx: Transaction,
  lease: Lease,
  head: HeadRow,
  last: LastBatch,
  isRemoved: boolean,
): Promise<readonly PricedStep[]> {
  if (last.status === 'rollback' || !isNextBatch(last.batch, head)) return [];
  const batch = isRemoved ? ofRemovedRun(last) : last.batch;
  // `countCalls` has stored those of a run that was to remove its thread: if the thread stays, this is the second time.
  return writeBatch(tx, lease, batch, last.remove_thread || isRepeatedBatch(batch, head));
}

/** Its checkpoints and steps are deleted with the thread. */
function ofRemovedRun({ batch, log_retention_ms }: LastBatch): Batch {
  const writes = batch.writes.flatMap(({ ofRemovedRun: write }) =>
    write ? (tx: Transaction) => write(tx, log_retention_ms) : [],
  );
  return { ...batch, writes, steps: [], attempt: undefined };
}

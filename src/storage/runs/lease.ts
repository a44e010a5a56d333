import { LeaseLost, WritesLost } from '../../core/errors.ts';
import type { Transaction } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import type { HeadRow, LockedThread } from './thread-lock.ts';

/** The right to execute one attempt of a run: every write of the attempt is conditional on it (invariant 2). */
export interface Lease {
  readonly run_id: string;
  readonly thread_id: string;
  /** The fencing token, fresh for each claim; a claim by somebody else replaces it. */
  readonly token: string;
  /** 1 for the first. */
  readonly attempt: number;
}

/** The head of the thread, if the lease still holds it. */
export function heldHead({ run_id, token }: Lease, { head }: LockedThread): HeadRow | undefined {
  return head?.run_id === run_id && head.lease_token === token ? head : undefined;
}

/** Whether storage holds what a batch goes on from; see `admitBatch`. */
export function isNextBatch(batch: { readonly follows?: number | undefined }, { batches }: HeadRow): boolean {
  return batch.follows === undefined || batch.follows === batches || batch.follows + 1 === batches;
}

/**
 * Admits the next batch of an attempt's writes, and keeps everybody else from the head until the transaction ends. The
 * batch names how many stored batches it `follows`: a database that crashed, or a replica that took over, may have lost
 * commits that were acknowledged but not yet durable, and whatever was written next would leave a gap. One batch more
 * than that is the same batch, sent again because the answer to its commit was lost.
 * Throws `LeaseLost` when another attempt holds the run, or it was rolled back (its checkpoints are removed already, and
 * one that came late would bring its state back), and `WritesLost` when storage holds less than what the batch follows.
 */
export async function admitBatch(tx: Transaction, { run_id, token }: Lease, batchSeq: number): Promise<void> {
  const ofLease = sql`run_id = ${run_id} and lease_token = ${token}
    and (cancel_action is null or cancel_action <> 'rollback')`;
  const admitted = await tx.run(sql`
    update run_queue set batches = ${batchSeq + 1}
    where ${ofLease} and batches >= ${batchSeq} and batches <= ${batchSeq + 1}`);
  if (admitted > 0) return;
  const held = await tx.get(sql`select 1 from run_queue where ${ofLease}`);
  throw held ? new WritesLost(run_id) : new LeaseLost(run_id);
}

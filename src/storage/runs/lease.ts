import { LeaseLost, WritesLost } from '../../core/errors.ts';
import type { Transaction } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import type { HeadRow, LockedThread } from './thread-lock.ts';

/** The right to execute one attempt of a run: every write of the attempt is conditional on it (invariant 2). */
export interface Lease {
  readonly run_id: string;
  readonly thread_id: string;
  /** Fencing token, fresh for each claim; the next claim replaces it. */
  readonly token: string;
  /** 1 for the first attempt; an attempt that is not counted leaves its number to the next one. */
  readonly attempt: number;
  /** How often the run was started, this time included: numbers what was recorded of it. */
  readonly starts: number;
}

/** Identifies a lease: all runs of one claim share its token. */
export function leaseKey({ run_id, token }: Pick<Lease, 'run_id' | 'token'>): string {
  return `${run_id} ${token}`;
}

/** The head of the thread, if the lease still holds it. */
export function heldHead(
  { run_id, token }: Pick<Lease, 'run_id' | 'token'>,
  { head }: LockedThread,
): HeadRow | undefined {
  return head?.run_id === run_id && head.lease_token === token ? head : undefined;
}

/** Whether storage holds the batches that this one follows; see `admitBatch`. */
export function isNextBatch(batch: { readonly follows?: number | undefined }, { batches }: HeadRow): boolean {
  return batch.follows === undefined || batch.follows === batches || batch.follows + 1 === batches;
}

/** Whether storage holds the batch already, in whole or in part: the response to its commit was lost. */
export function isRepeatedBatch(
  { follows }: { readonly follows?: number | undefined },
  { batches }: HeadRow,
): boolean {
  return follows !== undefined && follows !== batches;
}

/**
 * Fenced write: admits the next batch of an attempt, and locks the head until the transaction ends. The batch names how
 * many stored batches it `follows`: after a crash or a failover, the database may have lost commits that were
 * acknowledged but not yet durable, and the next write would leave a gap. One batch more than that is the same batch,
 * sent again because the response to its commit was lost.
 * Throws `LeaseLost` if another attempt holds the run or it was rolled back (its checkpoints are deleted, and a late
 * one would restore its state), and `WritesLost` if storage holds less than what the batch follows.
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

import type { Transaction } from '../../db/db.ts';
import { type BudgetCharge, type BudgetsUsed, chargeBudgets } from './budgets.ts';
import { type Frame, insertFrames } from './events.ts';
import type { Lease } from './lease.ts';
import { type AttemptRecord, insertSteps, type PricedStep, putAttempt } from './steps.ts';
import type { UsageAccount } from './usage.ts';

/** Statements of one unit of work; rerun from the start with their transaction. */
export interface Write {
  (tx: Transaction): Promise<void>;
  /** What it writes instead if that transaction removes the run; nothing if undefined. */
  readonly ofRemovedRun?: (tx: Transaction, log_retention_ms: number) => Promise<void>;
}

/** Output of an attempt that is not stored yet, in order. */
export interface Batch {
  readonly frames: Frame[];
  /** Checkpoints, and what tasks wrote at them. */
  readonly writes: Write[];
  /** Steps of the run that have ended. */
  readonly steps: PricedStep[];
  /** Account that is charged for the calls of models among them, if any. */
  readonly account?: UsageAccount | undefined;
  /** What the run has used of budgets; undefined if that is stored. */
  readonly budget?: BudgetCharge | undefined;
  /** The attempt as it is when the batch is stored; undefined if it has not changed. */
  readonly attempt?: AttemptRecord | undefined;
  /** How many batches of the attempt must be stored before this one; `undefined` skips the check. */
  readonly follows?: number;
}

/**
 * Part of a transaction that has checked the lease. Returns what is used of budgets, if the batch is charged to any.
 * `isRepeated`: see `insertSteps`.
 */
export async function writeBatch(
  tx: Transaction,
  lease: Lease,
  batch: Batch,
  isRepeated = false,
): Promise<BudgetsUsed | undefined> {
  for (const write of batch.writes) await write(tx);
  await insertFrames(tx, lease.run_id, batch.frames);
  if (batch.attempt) putAttempt(tx, lease, batch.attempt);
  await insertSteps(tx, lease, batch.steps, batch.account, isRepeated);
  // Last: the sums, which runs share, stay locked until the end of the transaction.
  return batch.budget && chargeBudgets(tx, batch.budget);
}

/** Without `follows`, it depends on no earlier batch. */
export const emptyBatch = (): Batch => ({ frames: [], writes: [], steps: [] });

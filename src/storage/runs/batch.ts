import type { Transaction } from '../../db/db.ts';
import type { PricedStep } from '../../schemas/steps.ts';
import type { Cargo, Riders } from '../riders.ts';
import { type Frame, insertFrames } from './events.ts';
import type { Lease } from './lease.ts';
import { type AttemptRecord, type BatchStep, insertSteps, putAttempt } from './steps.ts';

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
  readonly steps: BatchStep[];
  /** For riders, as it is when the batch is stored. */
  readonly cargo?: Cargo | undefined;
  /** The attempt as it is when the batch is stored; undefined if it has not changed. */
  readonly attempt?: AttemptRecord | undefined;
  /** How many batches of the attempt must be stored before this one; `undefined` skips the check. */
  readonly follows?: number;
}

/** Part of a transaction that has checked the lease: the batch with all that riders add. */
export async function flushBatch(
  tx: Transaction,
  lease: Lease,
  batch: Batch,
  riders: Riders,
  isRepeated = false,
): Promise<Cargo> {
  const calls = await writeBatch(tx, lease, batch, isRepeated);
  // Last: rows that runs share stay locked until the end of the transaction.
  return riders.flushed(tx, { ...lease, calls, cargo: batch.cargo });
}

/** Part of a transaction that has checked the lease: the batch without riders. See `insertSteps`. */
export async function writeBatch(
  tx: Transaction,
  lease: Lease,
  batch: Batch,
  isRepeated: boolean,
): Promise<readonly PricedStep[]> {
  for (const write of batch.writes) await write(tx);
  await insertFrames(tx, lease.run_id, batch.frames);
  if (batch.attempt) putAttempt(tx, lease, batch.attempt);
  return insertSteps(tx, lease, batch.steps, isRepeated);
}

/** Without `follows`, it depends on no earlier batch. */
export const emptyBatch = (): Batch => ({ frames: [], writes: [], steps: [] });

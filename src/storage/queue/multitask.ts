import type { Transaction } from '../../db/db.ts';
import type { MultitaskStrategy } from '../../schemas/runs.ts';
import { type QueueRow, queuedRuns, withHead } from '../runs/thread-lock.ts';
import type { Cancellation } from './cancel.ts';

/** `reject`: refuse while another run is in flight; a `Cancellation`: cancel those; `enqueue`: wait behind them. */
export type EffectOnOthers = 'reject' | 'enqueue' | Cancellation;

/**
 * Effect of a new run on its thread's other runs (contract §3). `enqueue` (default) waits behind them; `reject` refuses
 * the new run; `interrupt` cancels them and keeps their writes; `rollback` cancels and reverts them.
 */
export function effectOnOthers(
  strategy: MultitaskStrategy,
  run_id: string,
  log_retention_ms: number,
): EffectOnOthers {
  if (strategy === 'reject' || strategy === 'enqueue') return strategy;
  const error = strategy === 'interrupt' ? 'UserInterrupt' : 'UserRollback';
  const message = `superseded by run ${run_id} (multitask_strategy=${strategy})`;
  return { action: strategy, error: { error, message }, log_retention_ms };
}

/** The other runs of a thread whose row is locked, as far as the strategy decides on them. */
export async function runsToDecideOn(
  tx: Transaction,
  thread_id: string,
  others: EffectOnOthers,
): Promise<QueueRow[]> {
  // A run that only waits behind the others need not read them, and there may be very many.
  if (others === 'enqueue') return [];
  // What is to be cancelled must not be claimed after it was read.
  const locked = others === 'reject' ? undefined : withHead(tx, thread_id);
  const [rows] = await Promise.all([queuedRuns(tx, { thread_id }), locked]);
  return rows;
}

import { Conflict } from '../../core/errors.ts';
import type { MultitaskStrategy } from '../../schemas/runs.ts';
import type { Cancellation } from '../../storage/queue/cancel.ts';

/**
 * Effect of a new run on its thread's other runs (contract §3). `enqueue` (default) waits behind them; `reject` refuses
 * the new run; `interrupt` cancels them and keeps their writes; `rollback` cancels and reverts them.
 */
export function effectOnOthers(
  strategy: MultitaskStrategy,
  run_id: string,
  log_retention_ms: number,
): 'reject' | 'enqueue' | Cancellation {
  if (strategy === 'reject' || strategy === 'enqueue') return strategy;
  const error = strategy === 'interrupt' ? 'UserInterrupt' : 'UserRollback';
  const message = `superseded by run ${run_id} (multitask_strategy=${strategy})`;
  return { action: strategy, error: { error, message }, log_retention_ms };
}

/** 409 for strategy `reject`; the first sentence is part of the contract. */
export function threadBusy(thread_id: string, blocking: readonly string[]): Conflict {
  return new Conflict(
    'Thread is already running a task. Wait for it to finish or choose a different multitask strategy. ' +
      blockedBy(thread_id, blocking),
  );
}

/** 409 for a state update while runs are in flight. */
export function threadStateBusy(thread_id: string, blocking: readonly string[]): Conflict {
  return new Conflict(
    `Thread ${thread_id} has runs that are pending or running. ${blockedBy(thread_id, blocking)}`,
  );
}

/** Lists the blocking runs and how to cancel the first. */
function blockedBy(thread_id: string, blocking: readonly string[]): string {
  const [first] = blocking;
  return (
    `Blocked by run ${blocking.join(', ')}. ` +
    `Cancel it with POST /threads/${thread_id}/runs/${first}/cancel, or see GET /runs/${first}/explain.`
  );
}

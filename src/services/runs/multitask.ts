import { Conflict } from '../../core/errors.ts';
import type { MultitaskStrategy } from '../../schemas/runs.ts';
import type { Cancellation } from '../../storage/queue/cancel.ts';

/**
 * What a new run does to the others of its thread (CONTRACT §3). The default, `enqueue`, waits behind them; `reject`
 * refuses the new one; `interrupt` stops them and keeps what they wrote; `rollback` stops them and takes it back.
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

/** For a run whose strategy is `reject`; the first sentence is the contract's. */
export function threadBusy(thread_id: string, blocking: readonly string[]): Conflict {
  return new Conflict(
    'Thread is already running a task. Wait for it to finish or choose a different multitask strategy. ' +
      blockedBy(thread_id, blocking),
  );
}

/** For a change of the state from outside. */
export function threadStateBusy(thread_id: string, blocking: readonly string[]): Conflict {
  return new Conflict(
    `Thread ${thread_id} has runs that are pending or running. ${blockedBy(thread_id, blocking)}`,
  );
}

/** Names the runs in the way, and how to be rid of the first. */
function blockedBy(thread_id: string, blocking: readonly string[]): string {
  const [first] = blocking;
  return (
    `In the way: run ${blocking.join(', ')}. ` +
    `Cancel it with POST /threads/${thread_id}/runs/${first}/cancel, or see GET /runs/${first}/explain.`
  );
}

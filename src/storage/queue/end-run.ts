import { removeCheckpointsOfRun } from '../checkpoint-remove.ts';
import { noteCronRunEnd } from '../cron-fires.ts';
import type { Transaction } from '../db.ts';
import { sql } from '../sql.ts';
import { closeThreadLog } from '../thread-log.ts';
import { enqueueRunEnd, type RunWebhookRules } from '../webhooks/run-ended.ts';
import { type Ending, endLog } from './end-log.ts';
import type { LockedThread, QueueRow } from './locked-thread.ts';
import { promote } from './promote.ts';
import { removeTemporaryThread } from './temporary-thread.ts';

export interface EndRules {
  /** How long the log of the run is kept, ms. */
  readonly keep_log_ms: number;
  readonly webhooks: RunWebhookRules;
}

/**
 * Ends a run that no worker can end: its worker is lost, or the run itself is gone and only its place in the queue was
 * left. Its row has its final status already. Everything that `finish` does besides the state of the thread happens
 * here too: webhook, history of its cron, end of its log, its own thread, the next run. True when a run became ready.
 */
export async function endRun(
  tx: Transaction,
  { thread_id }: LockedThread,
  { run_id, owns_thread }: Pick<QueueRow, 'run_id' | 'owns_thread'>,
  ending: Ending,
  { keep_log_ms, webhooks }: EndRules,
): Promise<boolean> {
  await tx.run(sql`delete from run_queue where run_id = ${run_id}`);
  await enqueueRunEnd(tx, { run_id, status: ending.status, error: null, values: 'kept' }, webhooks);
  if (ending.status === 'rollback') await removeCheckpointsOfRun(tx, thread_id, run_id);
  else await noteCronRunEnd(tx, run_id, ending.status);
  await endLog(tx, run_id, ending, keep_log_ms);
  await closeThreadLog(tx, thread_id, run_id);
  if (owns_thread && (await removeTemporaryThread(tx, thread_id))) return false;
  return promote(tx, thread_id);
}

import type { Db } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { withThread } from '../runs/thread-lock.ts';
import { DEFAULT_WEBHOOK_RULES } from '../webhooks/run-ended.ts';
import { endRun, failRun } from './end-attempt.ts';

/** The error of a run that the queue does not have. */
const ABANDONED = {
  error: 'RunAbandoned',
  message: 'The run was missing from the queue and could not be executed. Start it again.',
};

/**
 * Ends a run that is pending or running but not in the queue, with an error. Returns false if it is neither any more.
 */
export function abandonRun(
  db: Db,
  thread_id: string,
  run_id: string,
  log_retention_ms: number,
): Promise<boolean> {
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    const open = await tx.get(sql`
      select 1 from runs where run_id = ${run_id} and status in ('pending', 'running')
        and not exists (select 1 from run_queue where run_queue.run_id = runs.run_id)`);
    if (!open) return false;
    await failRun(tx, thread, { run_id }, ABANDONED);
    const rules = { log_retention_ms, webhooks: DEFAULT_WEBHOOK_RULES };
    const ending = { status: 'error', error: ABANDONED.message } as const;
    await endRun(tx, thread, { run_id, owns_thread: 0 }, ending, rules);
    return true;
  });
}

/** Removes a queue row whose run does not exist, and promotes the next run of the thread. */
export function removeOrphan(db: Db, thread_id: string, run_id: string): Promise<boolean> {
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    if (await tx.get(sql`select 1 from runs where run_id = ${run_id}`)) return false;
    const rules = { log_retention_ms: 0, webhooks: DEFAULT_WEBHOOK_RULES };
    await endRun(tx, thread, { run_id, owns_thread: 0 }, { status: 'interrupted' }, rules);
    return true;
  });
}

import { toJson } from '../../core/json.ts';
import type { RunError } from '../../schemas/threads.ts';
import { removeCheckpointsOfRun } from '../checkpoint-remove.ts';
import type { Db, Transaction } from '../db.ts';
import { EVENT_DATA } from '../run-events.ts';
import { RUN_ERROR } from '../run-row.ts';
import { sql } from '../sql.ts';
import { closeThreadLog } from '../thread-log.ts';
import { THREAD } from '../thread-row.ts';
import { NOW, nowPlus } from '../time.ts';
import { enqueueRunEnd, type RunWebhookRules } from '../webhooks/run-ended.ts';
import type { QueueRow } from './cancel.ts';
import { type Ending, endLog } from './end-log.ts';
import { promote } from './promote.ts';
import type { RetryReason } from './standing.ts';
import { lockThread } from './thread-lock.ts';

export interface ReapRules {
  /** The worker that reaps: it lives, even when its event loop was blocked for longer than its lease. */
  readonly worker_id: string;
  /** After this many attempts a run ends as `error`. */
  readonly max_attempts: number;
  /** How long before a reaped run may be taken again, ms; doubled for each attempt after the first. */
  readonly backoff_ms: number;
  readonly keep_log_ms: number;
  /** What the thread shows of a run that used up its attempts. */
  readonly exhausted: RunError;
}

type Orphan = Pick<QueueRow, 'run_id' | 'cancel_action'> & {
  thread_id: string;
  worker_id: string;
  attempt: number;
};

/**
 * Takes back the runs of workers that are gone: a fresh attempt for each, or an end when it was cancelled meanwhile or
 * has used up its attempts. How many were taken back.
 */
export async function reap(db: Db, rules: ReapRules, webhooks: RunWebhookRules): Promise<number> {
  const orphans = await db.all<Orphan>(sql`
    select run_id, thread_id, worker_id, attempt, cancel_action from run_queue q
    where state = 'running' and worker_id <> ${rules.worker_id} and not exists (
      select 1 from workers w where w.worker_id = q.worker_id and w.expires_at > ${NOW}
    ) limit 1000`);
  for (const orphan of orphans) {
    await db.transaction('promised', (tx) => takeBack(tx, orphan, rules, webhooks));
  }
  return orphans.length;
}

async function takeBack(
  tx: Transaction,
  orphan: Orphan,
  rules: ReapRules,
  webhooks: RunWebhookRules,
): Promise<void> {
  await lockThread(tx, orphan.thread_id);
  // Two reapers may see the same orphan; the worker's id in the condition lets one of them through.
  const mine = sql`run_id = ${orphan.run_id} and state = 'running' and worker_id = ${orphan.worker_id}`;
  if (orphan.cancel_action === null && orphan.attempt < rules.max_attempts) {
    const delay_ms = orphan.attempt === 1 ? 0 : rules.backoff_ms * 2 ** (orphan.attempt - 2);
    const again = await tx.run(sql`
      update run_queue set state = 'ready', lease_token = null, worker_id = null, not_before = ${nowPlus(delay_ms)},
        retry_reason = ${'worker lost' satisfies RetryReason}
      where ${mine}`);
    if (again > 0) await tx.run(sql`update runs set status = 'pending' where run_id = ${orphan.run_id}`);
    return;
  }
  if ((await tx.run(sql`delete from run_queue where ${mine}`)) === 0) return;
  await end(tx, orphan, rules, webhooks);
  await promote(tx, orphan.thread_id);
}

async function end(
  tx: Transaction,
  orphan: Orphan,
  rules: ReapRules,
  webhooks: RunWebhookRules,
): Promise<void> {
  if (orphan.cancel_action === 'rollback') {
    await removeCheckpointsOfRun(tx, orphan.thread_id, orphan.run_id);
  }
  if (orphan.cancel_action === null) await exhaust(tx, orphan, toJson(rules.exhausted));
  const ending: Ending =
    orphan.cancel_action === null
      ? { status: 'error', error: rules.exhausted.message }
      : { status: 'interrupted' };
  const { run_id } = orphan;
  await enqueueRunEnd(tx, { run_id, status: ending.status, error: null, values: 'kept' }, webhooks);
  await endLog(tx, run_id, ending, rules.keep_log_ms);
  await closeThreadLog(tx, orphan.thread_id, orphan.run_id);
}

async function exhaust(tx: Transaction, { run_id, thread_id }: Orphan, error: string): Promise<void> {
  const { cipher } = tx;
  await tx.run(sql`
    insert into run_events (run_id, seq, event, data)
    select run_id, (select coalesce(max(seq), 0) + 1 from run_events where run_id = ${run_id}), 'error',
      ${cipher.sealText(EVENT_DATA, error)}
    from runs where run_id = ${run_id}`);
  await tx.run(sql`update runs set status = 'error', error = ${cipher.sealJson(RUN_ERROR, error)}, updated_at = ${NOW}, ended_at = ${NOW}
    where run_id = ${run_id}`);
  await tx.run(sql`update threads set status = 'error', error = ${cipher.sealJson(THREAD.error, error)}, updated_at = ${NOW}
    where thread_id = ${thread_id}`);
}

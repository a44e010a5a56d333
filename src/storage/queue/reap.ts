import type { Db, Transaction } from '../../db/db.ts';
import { forEachRow } from '../../db/rows.ts';
import { sql } from '../../db/sql.ts';
import { NOW, nowPlus } from '../../db/time.ts';
import { withThread } from '../runs/thread-lock.ts';
import type { RunWebhookRules } from '../webhooks/run-ended.ts';
import type { QueueContext } from './context.ts';
import { endAttempt, type FailurePolicy } from './end-attempt.ts';

export interface ReapRules extends FailurePolicy {
  /** The worker that reaps: it lives, even when its event loop was blocked for longer than its lease. */
  readonly worker_id: string;
  /** How long before a reaped run may be taken again, ms; doubled for each attempt after the first. */
  readonly backoff_ms: number;
  /** Hears of a run that is not tried again; graph and status are null where the run was deleted. */
  readonly onEnded?: ((run: LostRun) => void) | undefined;
}

/** A run that ended without its worker. */
export interface LostRun {
  readonly graph_id: string | null;
  readonly status: string | null;
}

interface ExpiredLease {
  readonly run_id: string;
  readonly thread_id: string;
  readonly worker_id: string;
  readonly seq: number;
}

/** Workers whose lease ended this long ago are forgotten, ms; until then `explain` names them. */
const WORKER_RETENTION_MS = 60_000;

/** Nobody renews the lease of the worker in a column. */
const isExpiredWorker = (worker_id: string) => sql`not exists (
  select 1 from workers w where w.worker_id = ${worker_id} and w.expires_at > ${NOW})`;

/**
 * Takes back the runs of workers that are gone: a fresh attempt for each, or an end when it was cancelled meanwhile or
 * has used up its attempts. What is found here is only a hint: each is decided again under its own lock. One that fails
 * is reported and does not hold up the others. How many were taken back.
 */
export async function reap({ db, webhooks, report }: QueueContext, rules: ReapRules): Promise<number> {
  const expired = await db.all<ExpiredLease>(sql`
    select run_id, thread_id, worker_id, seq from run_queue q
    where state = 'running' and worker_id <> ${rules.worker_id} and not exists (
      select 1 from workers w where w.worker_id = q.worker_id and w.expires_at > ${NOW}
    ) limit 1000`);
  let taken = 0;
  // Here and not by the database, which would look through all that waits for an order by number.
  expired.sort((one, other) => one.seq - other.seq);
  await forEachRow(
    expired,
    async (orphan) => {
      const back = await reclaim(db, orphan, rules, webhooks);
      if (!back) return;
      taken++;
      if (back.ended) rules.onEnded?.(back.ended);
    },
    ({ run_id, thread_id }, error) => report({ what: 'run cannot be recovered', run_id, thread_id, error }),
  );
  await db.run(
    sql`delete from workers where expires_at <= ${nowPlus(-WORKER_RETENTION_MS)}
      and not exists (select 1 from run_queue q where q.state = 'running' and q.worker_id = workers.worker_id)`,
    'async',
  );
  return taken;
}

/** Undefined when it is not an orphan any more: another reaper was faster, or its worker is back. */
function reclaim(
  db: Db,
  { run_id, thread_id, worker_id }: ExpiredLease,
  rules: ReapRules,
  webhooks: RunWebhookRules,
): Promise<{ readonly ended: LostRun | undefined } | undefined> {
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    const { head } = thread;
    if (head?.run_id !== run_id || head.state !== 'running' || head.worker_id !== worker_id) return undefined;
    if (!(await tx.get(sql`select 1 as gone where ${isExpiredWorker(worker_id)}`))) return undefined;
    const lost = {
      reason: 'worker lost',
      refund: false,
      delay_ms: rules.backoff_ms,
      failure: rules,
    } as const;
    const { outcome } = await endAttempt(tx, thread, head, lost, webhooks);
    return { ended: outcome === 'ended' ? await lostRun(tx, run_id) : undefined };
  });
}

async function lostRun(tx: Transaction, run_id: string): Promise<LostRun> {
  const row = await tx.get<LostRun>(sql`
    select a.graph_id, r.status from runs r left join assistants a on a.assistant_id = r.assistant_id
    where r.run_id = ${run_id}`);
  return row ?? { graph_id: null, status: null };
}

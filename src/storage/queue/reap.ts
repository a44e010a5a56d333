import { columns, nullable } from '../../db/columns.ts';
import type { Db, Transaction } from '../../db/db.ts';
import { forEachRow } from '../../db/rows.ts';
import { sql } from '../../db/sql.ts';
import { nowPlus } from '../../db/time.ts';
import { isDead } from '../processes.ts';
import { withThread } from '../runs/thread-lock.ts';
import type { RunWebhookRules } from '../webhooks/run-ended.ts';
import type { QueueContext } from './context.ts';
import { endAttempt, type FailurePolicy } from './end-attempt.ts';
import { type ExpiredLease, lostWork } from './lost-work.ts';
import { type RunLogFields, runLogFields } from './run-log-fields.ts';

export interface ReapRules extends FailurePolicy {
  /** The worker that reaps: alive, even if its event loop was blocked for longer than its lease. */
  readonly worker_id: string;
  /** Back-off of a reaped run, ms; grows as `AttemptEnd.delay_ms`. */
  readonly backoff_ms: number;
  /** Called for a run that is not retried; graph and status are null if the run was deleted. */
  readonly onEnded?: ((run: LostRun) => void) | undefined;
  /** Called for each run that was reclaimed; `status` if it is not retried. */
  readonly onReclaimed?: ((run: RunLogFields, status: string | null | undefined) => void) | undefined;
  /** Called with dead workers that hold claims of webhook deliveries. */
  readonly onLostSenders?: ((worker_ids: readonly string[]) => void) | undefined;
}

/** A run that ended without its worker. */
export interface LostRun {
  readonly run_id: string;
  readonly thread_id: string;
  readonly graph_id: string | null;
  readonly status: string | null;
  /** A rider follows its end. */
  readonly announces_end: boolean;
}

/** Retention of expired workers, ms; until then `explain` can name them. */
const WORKER_RETENTION_MS = 60_000;

/**
 * Reclaims the runs of dead workers: each is retried, or ended if it was cancelled or has used up its attempts. The
 * first query is only a hint: each run is decided again under its thread's lock. A failing run is reported and does not
 * block the others. Returns the number of runs reclaimed.
 */
export async function reap(
  { db, webhooks, report }: Pick<QueueContext, 'db' | 'webhooks' | 'report'>,
  rules: ReapRules,
): Promise<number> {
  const { expired, senders } = await lostWork(db, rules.worker_id);
  if (senders.length > 0) rules.onLostSenders?.(senders);
  if (expired.length === 0) return 0;
  const run_ids = expired.map(({ run_id }) => run_id);
  // Nothing is left unrecovered for a line of the log.
  const known = await runLogFields(db, run_ids).catch(() => new Map<string, RunLogFields>());
  const fieldsOf = ({ run_id, thread_id }: ExpiredLease) => known.get(run_id) ?? { run_id, thread_id };
  let taken = 0;
  // Sorted here: ordering by `seq` would make the database scan everything that waits.
  expired.sort((one, other) => one.seq - other.seq);
  await forEachRow(
    expired,
    async (orphan) => {
      const back = await reclaim(db, orphan, rules, webhooks);
      if (!back) return;
      taken++;
      rules.onReclaimed?.(fieldsOf(orphan), back.ended?.status);
      if (back.ended) rules.onEnded?.(back.ended);
    },
    (orphan, error) => report({ what: 'run cannot be recovered', ...fieldsOf(orphan), error }),
  );
  return taken;
}

/** Deletes workers that expired a while ago and hold no run. */
export async function deleteExpiredWorkers(db: Db): Promise<void> {
  await db.run(
    sql`delete from workers where expires_at <= ${nowPlus(-WORKER_RETENTION_MS)}
      and not exists (select 1 from run_queue q where q.state = 'running' and q.worker_id = workers.worker_id)`,
    'async',
  );
}

/** Returns `undefined` if it is no longer an orphan: another reaper was faster, or its worker is back. */
function reclaim(
  db: Db,
  { run_id, thread_id, worker_id }: ExpiredLease,
  rules: ReapRules,
  webhooks: RunWebhookRules,
): Promise<{ readonly ended: LostRun | undefined } | undefined> {
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    const { head } = thread;
    if (head?.run_id !== run_id || head.state !== 'running' || head.worker_id !== worker_id) return undefined;
    if (!(await tx.get(sql`select 1 as gone where ${isDead(worker_id)}`))) return undefined;
    const lost = {
      reason: 'worker lost',
      refund: false,
      delay_ms: rules.backoff_ms,
      failure: rules,
    } as const;
    const { outcome, announces_end } = await endAttempt(tx, thread, head, lost, webhooks);
    return {
      ended: outcome === 'ended' ? await lostRun(tx, { run_id, thread_id, announces_end }) : undefined,
    };
  });
}

async function lostRun(
  tx: Transaction,
  lost: Pick<LostRun, 'run_id' | 'thread_id' | 'announces_end'>,
): Promise<LostRun> {
  const row = await tx.get(sql`
    select ${nullable(columns('assistants', 'a.graph_id'))}, ${columns('runs', 'r.status')}
    from runs r left join assistants a on a.assistant_id = r.assistant_id where r.run_id = ${lost.run_id}`);
  return { ...lost, graph_id: null, status: null, ...row };
}

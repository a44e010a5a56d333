import { columns, number } from '../../../db/columns.ts';
import type { Reader } from '../../../db/db.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { NOW, nowPlus } from '../../../db/time.ts';
import { abandonRun, removeOrphan } from '../../../storage/queue/abandon.ts';
import { promote } from '../../../storage/queue/promote.ts';
import { reap } from '../../../storage/queue/reap.ts';
import { withThread } from '../../../storage/runs/thread-lock.ts';
import { DEFAULT_WEBHOOK_RULES } from '../../../storage/webhooks/run-ended.ts';
import { type Check, counted, type DoctorContext, type Finding, type QuickContext, some } from './finding.ts';

/** Longer than a healthy server leaves anything undone, ms. */
const PATIENCE_MS = 60_000;

const IDS = columns('run_queue', 'q.run_id, q.thread_id');

interface RunPlace {
  readonly run_id: string;
  readonly thread_id: string;
}

/** Each condition is one statement, which sees a transaction of a busy server whole or not at all. */
export const runChecks: readonly Check[] = [abandoned, orphans, blocked, lost, unclaimed, unreadable];

/** Pending or running, but not in the queue: no worker will ever see it, and its thread is not busy. */
async function abandoned(context: DoctorContext): Promise<Finding[]> {
  const runs: RunPlace[] = await context.db.all(sql`
    select ${columns('runs', 'r.run_id, r.thread_id')} from runs r where r.status in ('pending', 'running')
      and not exists (select 1 from run_queue q where q.run_id = r.run_id)`);
  return problem('runs', runs, {
    message: (ids) =>
      `${ids} will never end, because the queue has no entry for it: --fix ends it with an error.`,
    fix: ({ run_id, thread_id }) => abandonRun(context.db, thread_id, run_id, context.log_retention_ms),
  });
}

/** A queue row whose run is gone. One that is running is a rolled back run that its worker has not released yet. */
async function orphans({ db }: DoctorContext): Promise<Finding[]> {
  const runs = await db.all(sql`
    select ${IDS} from run_queue q where state <> 'running'
      and not exists (select 1 from runs r where r.run_id = q.run_id)`);
  return problem('queue', runs, {
    message: (ids) => `The queue has an entry for ${ids}, which does not exist: --fix removes the entry.`,
    fix: ({ run_id, thread_id }) => removeOrphan(db, thread_id, run_id),
  });
}

/** Waits behind another run of its thread, but there is none. */
async function blocked({ db }: DoctorContext): Promise<Finding[]> {
  const runs = await db.all(sql`
    select ${IDS} from run_queue q where q.state = 'blocked' and not exists (
      select 1 from run_queue h where h.thread_id = q.thread_id and h.state in ('ready', 'running'))`);
  return problem('queue', runs, {
    message: (ids) => `${ids} waits for another run of its thread, but there is none: --fix makes it ready.`,
    fix: ({ thread_id }) => withThread(db, 'sync', thread_id, (tx) => promote(tx, thread_id)),
  });
}

/** The worker is gone for longer than a reaper needs to notice. */
async function lost(context: DoctorContext): Promise<Finding[]> {
  const { db } = context;
  if (!context.is_served) return [];
  const runs = await db.all(sql`
    select ${IDS} from run_queue q where q.state = 'running' and not exists (
      select 1 from workers w where w.worker_id = q.worker_id and w.expires_at > ${nowPlus(-PATIENCE_MS)})`);
  return problem('runs', runs, {
    message: (ids) =>
      `${ids} counts as running, but its worker is gone and no server recovers it: --fix requeues it.`,
    fix: () => reapAll(context),
  });
}

function reapAll({ db, max_attempts, log_retention_ms }: DoctorContext): Promise<number> {
  const rules = {
    worker_id: '00000000-0000-0000-0000-000000000000',
    backoff_ms: 0,
    max_attempts,
    log_retention_ms,
    exhausted: { error: 'WorkerLost', message: 'The worker of this run was lost too often.' },
  };
  return reap({ db, webhooks: DEFAULT_WEBHOOK_RULES, report: () => {} }, rules);
}

/** Due, claimable, and there are free slots, but nothing starts. */
export async function unclaimed({ db, is_served }: QuickContext): Promise<Finding[]> {
  const due = sql`from run_queue q where q.state = 'ready' and q.not_before <= ${nowPlus(-PATIENCE_MS)}`;
  const runs: RunPlace[] = await db.all(sql`select ${IDS} ${due} order by not_before limit 100`);
  if (runs.length === 0) return [];
  const slots = await countOf(
    db,
    sql`select coalesce(sum(slots), 0) as ${N} from workers where expires_at > ${NOW}`,
  );
  const running = await countOf(db, sql`select count(*) as ${N} from run_queue where state = 'running'`);
  const waiting = counted(runs.length, 'run');
  if (!is_served) return [remark(`${waiting} was waiting when the last server stopped: start a server.`)];
  if (slots === 0)
    return [
      {
        check: 'runs',
        level: 'problem',
        message: `${waiting} has waited for over a minute, because no server executes runs: start one with "runs.concurrency" above 0.`,
      },
    ];
  // A process may have had no time for it; one that starts others does not hang.
  const started = await countOf(
    db,
    sql`select count(*) as ${N} from run_queue q join runs r on r.run_id = q.run_id
      where q.state = 'running' and r.started_at > ${nowPlus(-PATIENCE_MS)}`,
  );
  if (running >= slots || started > 0) return [];
  // An owner with a run may have reached the limit for it.
  const stuck: RunPlace[] = await db.all(sql`select ${IDS} ${due} and not exists (
    select 1 from run_queue r where r.state = 'running' and r.owner = q.owner and r.owner <> '') order by not_before limit 100`);
  if (stuck.length === 0) return [];
  return [
    {
      check: 'runs',
      level: 'problem',
      message: `${some(stuck.map(({ run_id }) => run_id))} has waited for over a minute although ${counted(slots - running, 'slot')} are free: check the logs of the servers, then restart them.`,
    },
  ];
}

/** Put back by each server that claims it, because it cannot decrypt it. */
async function unreadable({ db }: DoctorContext): Promise<Finding[]> {
  const runs: RunPlace[] = await db.all(
    sql`select ${IDS} from run_queue q where q.state = 'ready' and q.retry_reason = 'unreadable'`,
  );
  return problem('encryption', runs, {
    message: (ids) =>
      `${ids} cannot be decrypted by the servers: add its key to LANGGRAPH_AES_FALLBACK_KEYS, or delete the run.`,
  });
}

function remark(message: string): Finding {
  return { check: 'runs', level: 'notice', message };
}

const N = number('n');

async function countOf(reader: Reader, query: Sql<{ n: number }>): Promise<number> {
  return (await reader.get(query))?.n ?? 0;
}

interface Problem {
  readonly message: (ids: string) => string;
  readonly fix?: (run: RunPlace) => Promise<unknown>;
}

/** Builds one finding for all these runs. */
function problem(check: string, runs: readonly RunPlace[], { message, fix }: Problem): Finding[] {
  if (runs.length === 0) return [];
  const ids = `${runs.length === 1 ? 'Run' : 'Each of the runs'} ${some(runs.map(({ run_id }) => run_id))}`;
  const finding = { check, level: 'problem', message: message(ids) } as const;
  if (!fix) return [finding];
  const fixAll = async () => {
    for (const run of runs) await fix(run);
  };
  return [{ ...finding, fix: fixAll }];
}

import type { CronRun, CronRunsQuery } from '../schemas/crons.ts';
import type { RunStatus } from '../schemas/runs.ts';
import type { Db, Transaction } from './db.ts';
import { sql } from './sql.ts';

export type CronFireRepository = ReturnType<typeof cronFireRepository>;

/** What the times of crons came to; written by `queue/fire.ts`. */
export function cronFireRepository(db: Db) {
  return {
    /** Newest first. */
    list(cron_id: string, { limit, offset }: CronRunsQuery): Promise<CronRun[]> {
      return db.all<CronRun>(sql`
        select f.cron_id, f.tick, f.fired_at, f.outcome, f.detail, f.run_id, f.thread_id,
          coalesce(runs.status, f.status) as status
        from cron_fires f left join runs on runs.run_id = f.run_id
        where f.cron_id = ${cron_id} order by f.seq desc limit ${limit} offset ${offset}`);
    },

    /** Forgets what was before `at`; at most `limit`, how many. */
    dropBefore(at: string, limit: number): Promise<number> {
      return db.run(
        sql`delete from cron_fires where seq in (
          select seq from cron_fires where fired_at < ${at} order by fired_at limit ${limit})`,
        'relaxed',
      );
    },
  };
}

/** Notes how a run of a cron ended, before it may be gone. */
export async function noteCronRunEnd(tx: Transaction, run_id: string, status: RunStatus): Promise<void> {
  await tx.run(sql`update cron_fires set status = ${status} where run_id = ${run_id}`);
}

import type { Db, Transaction } from '../../db/db.ts';
import { metadataMatches } from '../../db/metadata-filter.ts';
import { and, raw, type Sql, sql } from '../../db/sql.ts';
import type { CronCount, CronFilter, CronRun, CronRunsQuery, CronSearch } from '../../schemas/crons.ts';
import type { RunStatus } from '../../schemas/runs.ts';
import type { CronStats } from '../../schemas/system.ts';
import { VISIBLE_CRONS, type Visibility, visible } from '../access/visibility.ts';
import {
  assignments,
  COLUMNS,
  type CronRow,
  type CronTimes,
  cronOf,
  encryptReason,
  findCron,
  type StoredCron,
  TIMES,
  type TimesRow,
  timesOf,
  values,
} from './row.ts';

export type CronRepository = ReturnType<typeof cronRepository>;

const SORT: Record<CronSearch['sort_by'], Sql> = {
  cron_id: sql`cron_id`,
  assistant_id: sql`assistant_id`,
  thread_id: sql`thread_id`,
  next_run_date: sql`next_run_date`,
  end_time: sql`ends_at`,
  created_at: sql`created_at`,
  updated_at: sql`updated_at`,
};

/** Crons and when they come next (CONTRACT §11). Their runs are made by `queue/fire.ts`. */
export function cronRepository(db: Db) {
  return {
    async insert(cron: StoredCron): Promise<void> {
      await db.run(sql`insert into crons (${COLUMNS}) values (${values(db.cipher, cron)})`);
    },

    get(cron_id: string, visibility?: Visibility): Promise<StoredCron | undefined> {
      return findCron(db, cron_id, { visibility });
    },

    /** Whole rows: `select` is the caller's. */
    async search(query: CronSearch, visibility?: Visibility): Promise<StoredCron[]> {
      const order = raw(query.sort_order === 'asc' ? 'asc' : 'desc');
      const rows = await db.all<CronRow>(sql`
        select ${COLUMNS} from crons where ${matches(query, visibility)}
        order by ${SORT[query.sort_by]} ${order} nulls last, cron_id ${order}
        limit ${query.limit} offset ${query.offset}`);
      return rows.map((row) => cronOf(db.cipher, row));
    },

    async count(filter: CronCount, visibility?: Visibility): Promise<number> {
      const row = await db.get<{ count: number }>(
        sql`select count(*) as count from crons where ${matches(filter, visibility)}`,
      );
      return row?.count ?? 0;
    },

    /** `revise` sees the cron as it is, and nobody changes it meanwhile. Undefined when there is none. */
    update(
      cron_id: string,
      revise: (cron: StoredCron) => StoredCron,
      visibility?: Visibility,
    ): Promise<StoredCron | undefined> {
      return db.transaction('sync', async (tx) => {
        const stored = await findCron(tx, cron_id, { visibility, lock: true });
        const revised = stored && revise(stored);
        if (revised)
          await tx.run(sql`update crons set ${assignments(db.cipher, revised)} where cron_id = ${cron_id}`);
        return revised;
      });
    },

    /** Its history goes too, its runs stay. */
    async delete(cron_id: string, visibility?: Visibility): Promise<boolean> {
      const wanted = and([sql`cron_id = ${cron_id}`, visible(VISIBLE_CRONS, visibility)]);
      return (await db.run(sql`delete from crons where ${wanted}`, 'reclaim')) > 0;
    },

    /** Some of those whose time has come by `at`; the longest overdue first. */
    async due(at: string, limit: number): Promise<CronTimes[]> {
      const rows = await db.all<TimesRow>(sql`
        select ${TIMES} from crons where next_run_date <= ${at} order by next_run_date limit ${limit}`);
      return rows.map(timesOf);
    },

    /** When the next one comes, past or future; undefined when none does. */
    async nextDue(): Promise<string | undefined> {
      const row = await db.get<{ next: string | null }>(
        sql`select min(next_run_date) as next from crons where next_run_date is not null`,
      );
      return row?.next ?? undefined;
    },

    /** How many make runs, and how many of them should have by `at`. */
    async stats(at: string): Promise<CronStats> {
      const row = await db.get<CronStats>(sql`
        select count(*) as n_crons, count(case when next_run_date <= ${at} then 1 end) as n_overdue_crons
        from crons where next_run_date is not null`);
      return row ?? { n_crons: 0, n_overdue_crons: 0 };
    },

    /** Those that come after `at`, by their ids, after one of them. */
    async upcoming(at: string, after: string | undefined, limit: number): Promise<CronTimes[]> {
      const rest = after === undefined ? undefined : sql`cron_id > ${after}`;
      const rows = await db.all<TimesRow>(sql`
        select ${TIMES} from crons where ${and([sql`next_run_date > ${at}`, rest])}
        order by cron_id limit ${limit}`);
      return rows.map(timesOf);
    },

    /** Puts the next run to another time, unless somebody was faster. */
    async reschedule({ cron_id, next_run_date }: CronTimes, next: string | null): Promise<void> {
      await db.run(sql`update crons set next_run_date = ${next}
        where cron_id = ${cron_id} and next_run_date = ${next_run_date}`);
    },

    /** Pauses a cron that cannot make this run nor any other, unless somebody has changed it meanwhile. */
    async disable({ cron_id, next_run_date }: CronTimes, reason: string, at: string): Promise<boolean> {
      const changed = await db.run(sql`
        update crons set enabled = 0, next_run_date = null, disabled_reason = ${encryptReason(db.cipher, reason)}, updated_at = ${at}
        where cron_id = ${cron_id} and next_run_date = ${next_run_date}`);
      return changed > 0;
    },
  };
}

function matches(
  { assistant_id, thread_id, enabled, metadata }: CronFilter,
  visibility: Visibility | undefined,
): Sql {
  return and([
    assistant_id === undefined ? undefined : sql`assistant_id = ${assistant_id}`,
    thread_id === undefined ? undefined : sql`thread_id = ${thread_id}`,
    enabled === undefined ? undefined : sql`enabled = ${Number(enabled)}`,
    metadata && metadataMatches('crons.metadata', { contains: metadata }),
    visible(VISIBLE_CRONS, visibility),
  ]);
}

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
    deleteBefore(at: string, limit: number): Promise<number> {
      return db.run(
        sql`delete from cron_fires where seq in (
          select seq from cron_fires where fired_at < ${at} order by fired_at limit ${limit})`,
        'async',
      );
    },
  };
}

/** Notes how a run of a cron ended, before it may be gone. */
export async function recordCronRunEnd(tx: Transaction, run_id: string, status: RunStatus): Promise<void> {
  await tx.run(sql`update cron_fires set status = ${status} where run_id = ${run_id}`);
}

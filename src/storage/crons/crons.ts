import { bind } from '../../db/bind.ts';
import { columns, nullable, number, text } from '../../db/columns.ts';
import type { Db, Transaction } from '../../db/db.ts';
import { isOneOf } from '../../db/json.ts';
import { and, raw, sql } from '../../db/sql.ts';
import type { CronRun, CronRunsQuery } from '../../schemas/crons.ts';
import type { RunStatus } from '../../schemas/runs.ts';
import type { CronStats } from '../../schemas/system.ts';
import { VISIBLE_CRONS, type Visibility, visible } from '../access/visibility.ts';
import {
  assignments,
  COLUMNS,
  type CronTimes,
  encryptReason,
  findCron,
  type StoredCron,
  TIMES,
  timesOf,
  values,
} from './row.ts';
import { countCrons, HAS_ENDED, searchCrons } from './search.ts';

export type CronRepository = ReturnType<typeof cronRepository>;

/** Crons and their next ticks (contract §11). `queue/fire-cron.ts` creates their runs. */
export function cronRepository(db: Db) {
  return bind(db, {
    insert,
    get,
    search: searchCrons,
    count: countCrons,
    update,
    delete: deleteCron,
    due,
    nextDue,
    stats,
    upcoming,
    reschedule,
    disable,
    deleteEnded,
    countOfRuns,
  });
}

function get(db: Db, cron_id: string, visibility?: Visibility): Promise<StoredCron | undefined> {
  return findCron(db, cron_id, { visibility });
}

async function insert(db: Db, cron: StoredCron): Promise<void> {
  await db.run(sql`insert into crons (${COLUMNS}) values (${values(db.cipher, cron)})`);
}

/** Runs `revise` on the locked row. Returns `undefined` if the cron does not exist. */
function update(
  db: Db,
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
}

/** Cascades to its tick history, not to its runs. */
async function deleteCron(db: Db, cron_id: string, visibility?: Visibility): Promise<boolean> {
  const wanted = and([sql`cron_id = ${cron_id}`, visible(VISIBLE_CRONS, visibility)]);
  return (await db.run(sql`delete from crons where ${wanted}`, 'reclaim')) > 0;
}

/** Crons due at `at`, longest overdue first; keyset pagination after the cron `after`. */
async function due(db: Db, at: string, after: CronTimes | undefined, limit: number): Promise<CronTimes[]> {
  const rest = after && sql`(next_run_date, cron_id) > (${after.next_run_date}, ${after.cron_id})`;
  const rows = await db.all(sql`
    select ${TIMES} from crons where ${and([sql`next_run_date <= ${at}`, rest])}
    order by next_run_date, cron_id limit ${limit}`);
  return rows.map(timesOf);
}

/** Time of the next tick, past or future, of all crons except these; `undefined` if there is none. */
async function nextDue(db: Db, except: readonly string[] = []): Promise<string | undefined> {
  const others = except.length === 0 ? undefined : sql`not (${isOneOf('cron_id', except)})`;
  const wanted = and([raw('next_run_date is not null'), others]);
  const row = await db.get(
    sql`select min(next_run_date) as ${nullable(text('next'))} from crons where ${wanted}`,
  );
  return row?.next ?? undefined;
}

/** Number of scheduled crons, and of those overdue at `at`. */
async function stats(db: Db, at: string): Promise<CronStats> {
  const row = await db.get(sql`
    select count(*) as ${number('n_crons')},
      count(case when next_run_date <= ${at} then 1 end) as ${number('n_overdue_crons')}
    from crons where next_run_date is not null`);
  return row ?? { n_crons: 0, n_overdue_crons: 0 };
}

/** Crons whose next tick is after `at`; keyset pagination by id. */
async function upcoming(db: Db, at: string, after: string | undefined, limit: number): Promise<CronTimes[]> {
  const rest = after === undefined ? undefined : sql`cron_id > ${after}`;
  const rows = await db.all(sql`
    select ${TIMES} from crons where ${and([sql`next_run_date > ${at}`, rest])}
    order by cron_id limit ${limit}`);
  return rows.map(timesOf);
}

/** Compare-and-set of the next tick. */
async function reschedule(db: Db, { cron_id, next_run_date }: CronTimes, next: string | null): Promise<void> {
  await db.run(sql`update crons set next_run_date = ${next}
    where cron_id = ${cron_id} and next_run_date = ${next_run_date}`);
}

/** Disables a cron that cannot create runs, unless it has changed meanwhile (compare-and-set). */
async function disable(
  db: Db,
  { cron_id, next_run_date }: CronTimes,
  reason: string,
  at: string,
): Promise<boolean> {
  const changed = await db.run(sql`
    update crons set enabled = 0, next_run_date = null, disabled_reason = ${encryptReason(db.cipher, reason)}, updated_at = ${at}
    where cron_id = ${cron_id} and next_run_date = ${next_run_date}`);
  return changed > 0;
}

/** Deletes up to `limit` crons that ended and whose last change and last outcome are older than `at`; returns how many. */
function deleteEnded(db: Db, at: string, limit: number): Promise<number> {
  return db.run(
    sql`delete from crons where cron_id in (
      select cron_id from crons where ${raw(HAS_ENDED)} and updated_at < ${at}
        and not exists (select 1 from cron_fires f where f.cron_id = crons.cron_id and f.fired_at >= ${at})
      order by cron_id limit ${limit})`,
    'reclaim',
  );
}

/** How many crons that runs of crons created for the user have a further time. */
async function countOfRuns(db: Db, user_id: string): Promise<number> {
  const row = await db.get(sql`select count(*) as ${number('count')} from crons
    where made_by_cron is not null and user_id = ${user_id} and next_run_date is not null`);
  return row?.count ?? 0;
}

const FIRE = columns(
  'cron_fires',
  'f.cron_id, f.tick, f.fired_at, f.outcome, f.detail, f.run_id, f.thread_id',
);

export type CronFireRepository = ReturnType<typeof cronFireRepository>;

/** Outcomes of cron ticks; written by `queue/fire-cron.ts`. */
export function cronFireRepository(db: Db) {
  return {
    /** Newest first. */
    list(cron_id: string, { limit, offset }: CronRunsQuery): Promise<CronRun[]> {
      return db.all(sql`
        select ${FIRE}, coalesce(runs.status, f.status) as ${columns('cron_fires', 'status')}
        from cron_fires f left join runs on runs.run_id = f.run_id
        where f.cron_id = ${cron_id} order by f.seq desc limit ${limit} offset ${offset}`);
    },

    /** Deletes up to `limit` entries older than `at`; returns how many. */
    deleteBefore(at: string, limit: number): Promise<number> {
      return db.run(
        sql`delete from cron_fires where seq in (
          select seq from cron_fires where fired_at < ${at} order by fired_at limit ${limit})`,
        'async',
      );
    },
  };
}

/** Records a cron run's final status before the run may be deleted. */
export function recordCronRunEnd(tx: Transaction, run_id: string, status: RunStatus): void {
  tx.defer(sql`update cron_fires set status = ${status} where run_id = ${run_id}`);
}

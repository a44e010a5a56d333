import { type DialectSql, raw, sql } from '../../db/sql.ts';

/** Runs `n` that may have stopped their thread: they have begun, and none whose answer was refused is among them. */
const MAY_HAVE_STOPPED = `n.status not in ('error', 'timeout') and n.started_at is not null`;

/** A column of the run where a thread stopped: the newest. Runs of a thread begin in the order of `created_at`. */
export const newestRun = (column: string) =>
  raw(`(select n.${column} from runs n where n.thread_id = threads.thread_id and ${MAY_HAVE_STOPPED}
    order by n.created_at desc, n.run_id desc limit 1)`);

/**
 * Whether a run has left its thread waiting for a person. The status of the thread is a scalar subquery: PostgreSQL would
 * hash all threads for an `exists`.
 */
export const IS_WAITING = sql`(runs.status = 'success'
  and coalesce((select threads.status from threads where threads.thread_id = runs.thread_id), '') = 'interrupted'
  and not exists (select 1 from runs n where n.thread_id = runs.thread_id and ${raw(MAY_HAVE_STOPPED)}
    and (n.created_at, n.run_id) > (runs.created_at, runs.run_id)))`;

const WAITING_RUNS = sql`select ${newestRun('run_id')} as id from threads`;

/** The condition of a list of waiting runs. */
export const WAITS: DialectSql = {
  sqlite: IS_WAITING,
  postgres: sql`runs.status = 'success' and runs.run_id in (${WAITING_RUNS} where threads.status = 'interrupted')`,
};

/** SQLite: a `from` clause of the runs that waiting threads stopped at. */
export const OF_WAITING_THREADS = sql`(
  ${WAITING_RUNS} indexed by threads_waiting where threads.status = 'interrupted') source
  cross join runs on runs.run_id = source.id`;

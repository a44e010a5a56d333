import { median } from '../../core/median.ts';
import { columns, nullable, number, text } from '../../db/columns.ts';
import type { Db } from '../../db/db.ts';
import { type DialectSql, type RowOf, raw, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import type { QueueCounts, QueueStats } from '../../schemas/system.ts';

/** Up to this many waiting runs, the median is exact; beyond, it is taken from evenly spread probes. */
const EXACT_UP_TO = 1000;
const PROBES = 256;

/**
 * SQLite counts 200,000 index entries in half a millisecond. PostgreSQL must visit the rows: it counts up to 10,000,
 * and estimates a longer queue from a fixed sample of 512 pages, which is the whole table up to 4 MB.
 */
const TABLE_PAGES = sql`(pg_relation_size('run_queue') / current_setting('block_size')::bigint)`;
const SAMPLE_PERCENT = sql`least(100, 100 * 512 / greatest(${TABLE_PAGES}, 1)::float8)`;
const BOUNDED_COUNT = sql`(select count(*) as n from (select from run_queue limit 10001) as first)`;
const TOTAL: DialectSql = {
  sqlite: sql`(select count(*) from run_queue)`,
  postgres: sql`(select case when counted.n <= 10000 then counted.n else (
      select greatest(10001, round(count(*) * 100 / ${SAMPLE_PERCENT})::bigint) from run_queue tablesample system (${SAMPLE_PERCENT}) repeatable (1)) end
    from ${BOUNDED_COUNT} as counted)`,
};
const RUNNING = sql`(select count(*) from run_queue where state = 'running')`;

/** Pending and running runs alone, which cost least. */
export async function queueCounts(db: Db): Promise<QueueCounts> {
  const counts = sql`select ${TOTAL} as ${number('total')}, ${RUNNING} as ${number('running')}`;
  const { total, running } = (await db.get(counts)) as RowOf<typeof counts>;
  return { n_pending: total - running, n_running: running };
}

/**
 * Queue length, and how long due runs have waited (contract §2.9 `/metrics`). Constant cost at any length: the oldest
 * rows come from indexes, and beyond 1,000 waiting runs the median is an estimate.
 */
export async function queueStats(db: Db): Promise<QueueStats> {
  const totals = sql`
    select ${TOTAL} as ${number('total')},
      ${RUNNING} as ${number('running')},
      ${oldest('ready')}, ${oldest('blocked')}, ${oldest('scheduled')}, ${NOW} as ${text('now')}`;
  const { total, running, now, ...first } = (await db.get(totals)) as RowOf<typeof totals>;
  const n_pending = total - running;
  const waited = waitsAt(now);
  const [longest = null] = waited([first.ready, first.blocked, first.scheduled]).toSorted((a, b) => b - a);
  const [unblocked = null] = waited([first.ready]);
  return {
    n_pending,
    n_running: running,
    pending_runs_wait_time_max_secs: longest,
    pending_runs_wait_time_med_secs:
      longest === null ? null : median(waited(await times(db, n_pending <= EXACT_UP_TO))),
    pending_unblocked_runs_wait_time_max_secs: unblocked,
  };
}

/** The state is a literal, which the planner finds in partial indexes. */
function oldest<State extends 'ready' | 'blocked' | 'scheduled'>(state: State) {
  const literal = raw(`'${state}'`);
  return sql`(select min(not_before) from run_queue where state = ${literal}) as ${nullable(text(state))}`;
}

/** Seconds since each of the times that has passed. */
function waitsAt(now: string): (times: readonly (string | null)[]) => number[] {
  const at = Date.parse(now);
  return (times) =>
    times
      .filter((time) => time !== null)
      .map((time) => (at - Date.parse(time)) / 1000)
      .filter((seconds) => seconds >= 0);
}

/** A probe finds none behind the last run that waits. */
const NOT_BEFORE = nullable(columns('run_queue', 'not_before'));

/** Due times of waiting runs: of all, or of the first one from each of `PROBES` evenly spread `seq` values on. */
async function times(db: Db, all: boolean): Promise<(string | null)[]> {
  const waiting = sql`select ${NOT_BEFORE} from run_queue where state <> 'running'`;
  const probes = sql`
    with recursive probe (n) as (select 0 union all select n + 1 from probe where n < ${PROBES - 1}),
      bounds (low, high) as (select (select min(seq) from run_queue), (select max(seq) from run_queue))
    select (${waiting} and seq >= low + n * (high - low) / ${PROBES} order by seq limit 1) as ${NOT_BEFORE}
    from probe cross join bounds`;
  const rows = await db.all(all ? waiting : probes);
  return rows.map(({ not_before }) => not_before);
}

import { median } from '../core/median.ts';
import { columns, nullable, number, text } from '../db/columns.ts';
import type { Reader } from '../db/db.ts';
import { type DialectSql, raw, type Sql, sql } from '../db/sql.ts';
import { NOW, nowPlus } from '../db/time.ts';
import type { EndedCounts, StorageView, ThreadCounts, WaitingRun } from '../schemas/system-overview.ts';

/** Rows counted one by one: what takes longer to count is more than anyone compares. */
const MAX_COUNTED = 10_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Counts of the whole database; of constant cost, however many runs and threads there are, but for `totalThreads`. */
export function overviewReader(reader: Reader) {
  return {
    endedRuns: () => endedRuns(reader),
    endedByHour: () => endedByHour(reader),
    oldestWaiting: () => oldestWaiting(reader),
    threads: () => threadCounts(reader),
    totalThreads: () => totalThreads(reader),
    size: () => storageSize(reader),
  };
}

/** How the newest runs of the last 24 hours ended, from the index `runs_ended` alone. */
async function endedRuns(reader: Reader): Promise<EndedCounts> {
  const ended = (status: string) => sql`count(*) filter (where status = ${status})`;
  const row = await reader.get(sql`
    select ${ended('success')} as ${number('success')}, ${ended('error')} as ${number('error')},
      ${ended('timeout')} as ${number('timeout')}, ${ended('interrupted')} as ${number('interrupted')},
      count(*) filter (where status in ('error', 'timeout') and ended_at >= ${nowPlus(-HOUR_MS)})
        as ${number('failed_last_hour')},
      case when count(*) = ${MAX_COUNTED} then min(ended_at) end as ${nullable(text('since'))}
    from (select status, ended_at from runs where ended_at is not null and ended_at > ${nowPlus(-DAY_MS)}
      order by ended_at desc limit ${MAX_COUNTED}) as newest`);
  return row ?? { success: 0, error: 0, timeout: 0, interrupted: 0, failed_last_hour: 0, since: null };
}

/** The run that is due for longest and has not started; from indexes. */
async function oldestWaiting(reader: Reader): Promise<WaitingRun | undefined> {
  // States are literals, which the planner finds in partial indexes.
  const first = (state: string) => sql`
    select * from (select ${WAITING} from run_queue where state = ${raw(`'${state}'`)}
      and not_before <= ${NOW} order by not_before limit 1) as ${raw(state)}`;
  return reader.get(sql`
    ${first('ready')} union all ${first('blocked')} union all ${first('scheduled')} order by since limit 1`);
}

const WAITING = columns('run_queue', 'run_id, thread_id, not_before as since');

/**
 * SQLite reads the headers of all pages of an index: 16 MB for a million. PostgreSQL counts up to 10,000, and knows more by
 * estimate.
 */
const TOTAL: DialectSql = {
  sqlite: sql`(select count(*) from threads)`,
  postgres: sql`(select case when first.n < ${MAX_COUNTED} then first.n else greatest(first.n,
      (select reltuples::bigint from pg_class where oid = 'threads'::regclass)) end
    from (select count(*) as n from (select from threads limit ${MAX_COUNTED}) as rows) as first)`,
};

/** Up to `MAX_COUNTED` rows of a table that match. */
function counted(table: Sql, condition: Sql): Sql {
  return sql`(select count(*) from (select 1 from ${table} where ${condition} limit ${MAX_COUNTED}) as first)`;
}

async function totalThreads(reader: Reader): Promise<number> {
  const row = await reader.get(sql`select ${TOTAL} as ${number('total')}`);
  return row?.total ?? 0;
}

async function threadCounts(reader: Reader): Promise<Omit<ThreadCounts, 'total'>> {
  // States are literals, which the planner finds in partial indexes.
  const inState = (state: string) => counted(raw('run_queue'), raw(`state = '${state}'`));
  const row = await reader.get(sql`
    select ${inState('ready')} + ${inState('running')} as ${number('busy')},
      ${counted(raw('threads'), raw(`status = 'interrupted'`))} as ${number('interrupted')},
      ${counted(raw('threads'), raw(`status = 'error'`))} as ${number('error')}`);
  return row ?? { busy: 0, interrupted: 0, error: 0 };
}

/** SQLite counts its pages; PostgreSQL adds up the files of this schema's tables, indexes and large values. */
const BYTES: DialectSql = {
  sqlite: sql`(select p.page_size * c.page_count from pragma_page_size p, pragma_page_count c)`,
  postgres: sql`(
    select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p'))`,
};

/** Size of the stored data on disk, bytes; without the write-ahead log. */
export async function storageBytes(reader: Reader): Promise<number> {
  const row = await reader.get(sql`select ${BYTES} as ${number('bytes')}`);
  return row?.bytes ?? 0;
}

async function storageSize(reader: Reader): Promise<StorageView> {
  return { engine: reader.dialect, size_bytes: await storageBytes(reader) };
}

/** Runs whose duration is read, from their rows. */
const MAX_TIMED = 1_000;

/** Stored runs that ended within an hour. */
export interface EndedInHour {
  /** The hour in UTC: `2026-01-31T08`. */
  readonly hour: string;
  readonly ended: number;
  readonly failed: number;
  /** Median duration of those that are among the newest; `null` without any. */
  readonly median_seconds: number | null;
}

const HOUR: DialectSql = {
  sqlite: raw('substr(ended_at, 1, 13)'),
  postgres: raw(`to_char(ended_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24')`),
};
export const HOUR_LENGTH = '2026-01-31T08'.length;

/** The runs that ended in the last 24 hours, oldest hour first; hours without any are left out. Of bounded cost. */
async function endedByHour(reader: Reader): Promise<EndedInHour[]> {
  const newest = (list: string, limit: number) => sql`
    select ${raw(list)} from runs where ended_at is not null and ended_at > ${nowPlus(-DAY_MS)}
    order by ended_at desc limit ${limit}`;
  const counts = await reader.all(sql`
    select ${HOUR} as ${text('hour')}, count(*) as ${number('ended')},
      count(*) filter (where status in ('error', 'timeout')) as ${number('failed')}
    from (${newest('ended_at, status', MAX_COUNTED)}) as newest group by 1 order by 1`);
  const times = await reader.all(sql`
    select ${columns('runs', 'started_at, ended_at')} from (${newest('started_at, ended_at', MAX_TIMED)}) as newest`);
  const timed = Map.groupBy(times, ({ ended_at }) => ended_at?.slice(0, HOUR_LENGTH));
  return counts.map(({ hour, ...counted }) => ({
    hour,
    ...counted,
    median_seconds: median((timed.get(hour) ?? []).flatMap(secondsOf)),
  }));
}

function secondsOf({
  started_at,
  ended_at,
}: {
  started_at: string | null;
  ended_at: string | null;
}): number[] {
  return started_at === null || ended_at === null
    ? []
    : [(Date.parse(ended_at) - Date.parse(started_at)) / 1000];
}

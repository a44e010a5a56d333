import { columns, number, text } from '../db/columns.ts';
import type { Reader } from '../db/db.ts';
import { type DialectSql, raw, sql } from '../db/sql.ts';
import { nowPlus } from '../db/time.ts';

/** Runs counted one by one, from an index. */
const MAX_COUNTED = 10_000;
/** Runs whose duration is read, from their rows. */
const MAX_TIMED = 1_000;
const DAY_MS = 86_400_000;

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
export async function endedByHour(reader: Reader): Promise<EndedInHour[]> {
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

function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}

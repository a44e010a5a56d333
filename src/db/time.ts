import { type DialectSql, raw, sql } from './sql.ts';

/**
 * The database's clock, the only one that every process on a database shares (engine §2). SQLite stores timestamps as
 * ISO-8601 text in UTC with milliseconds, which sorts chronologically. PostgreSQL: the time at which the statement
 * arrived, constant within it, so that an index can serve it; `clock_timestamp()` is volatile and never can.
 */
export const NOW: DialectSql = {
  sqlite: sql`strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`,
  postgres: sql`statement_timestamp()`,
};

/** The database's time plus `ms` (negative: before). */
export function nowPlus(ms: number): DialectSql {
  return {
    sqlite: sql`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${ms / 1000} seconds`})`,
    postgres: sql`(statement_timestamp() + ${ms}::float8 * interval '1 millisecond')`,
  };
}

/** The database's time plus the minutes in a column of the row. */
export function nowPlusMinutes(column: string): DialectSql {
  const minutes = raw(column);
  return {
    sqlite: sql`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (${minutes} * 60) || ' seconds')`,
    postgres: sql`(statement_timestamp() + ${minutes} * interval '1 minute')`,
  };
}

/** The time in a column plus `ms`. */
export function timePlus(column: string, ms: number): DialectSql {
  return {
    sqlite: sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${raw(column)}, ${`${ms / 1000} seconds`})`,
    postgres: sql`(${raw(column)} + ${ms}::float8 * interval '1 millisecond')`,
  };
}

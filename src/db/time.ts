import { type DialectSql, raw, sql } from './sql.ts';

/**
 * The database's own time: the only one that every process on a database shares (ENGINE §2). SQLite keeps timestamps
 * as ISO-8601 text in UTC with milliseconds, which compares as time does. On PostgreSQL the time at which the statement
 * came: it is the same for all of the statement, so that an index can be asked for it, which `clock_timestamp()` never is.
 */
export const NOW: DialectSql = {
  sqlite: sql`strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`,
  postgres: sql`statement_timestamp()`,
};

/** The database's time plus some ms (negative: before). */
export function nowPlus(ms: number): DialectSql {
  return {
    sqlite: sql`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${ms / 1000} seconds`})`,
    postgres: sql`(statement_timestamp() + ${ms}::float8 * interval '1 millisecond')`,
  };
}

/** The database's time plus as many minutes as a column of the row says. */
export function nowPlusMinutes(column: string): DialectSql {
  const minutes = raw(column);
  return {
    sqlite: sql`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (${minutes} * 60) || ' seconds')`,
    postgres: sql`(statement_timestamp() + ${minutes} * interval '1 minute')`,
  };
}

/** The time in a column plus some ms. */
export function timePlus(column: string, ms: number): DialectSql {
  return {
    sqlite: sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${raw(column)}, ${`${ms / 1000} seconds`})`,
    postgres: sql`(${raw(column)} + ${ms}::float8 * interval '1 millisecond')`,
  };
}

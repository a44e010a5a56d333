import { type DialectSql, raw, type Sql, sql } from './sql.ts';

/**
 * ` from few f ${lookUp('many', 'm', sql`m.id = f.id`)} and …`: for each row on the left the rows of a table, through
 * the table's index. Left to itself, PostgreSQL takes a handful of JSON elements for hundreds and reads the whole table
 * once for a hash join (`offset 0` keeps it from that), and SQLite may begin with the table.
 */
export function lateralJoin(table: string, alias: string, on: Sql): DialectSql {
  const named = raw(`${table} ${alias}`);
  return {
    sqlite: sql`cross join ${named} where ${on}`,
    postgres: sql`cross join lateral (select * from ${named} where ${on} offset 0) ${raw(alias)} where true`,
  };
}

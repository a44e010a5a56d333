import { type DialectSql, raw, type Sql, sql } from './sql.ts';

/**
 * Lateral join, as in ` from few f ${lateralJoin('many', 'm', sql`m.id = f.id`)} and …`: for each row on the left, an
 * index lookup of its rows in a table. Left alone, PostgreSQL estimates hundreds of rows for a few JSON elements and
 * hash-joins the whole table (`offset 0` prevents that), and SQLite may begin with the table.
 */
export function lateralJoin(table: string, alias: string, on: Sql): DialectSql {
  const named = raw(`${table} ${alias}`);
  return {
    sqlite: sql`cross join ${named} where ${on}`,
    postgres: sql`cross join lateral (select * from ${named} where ${on} offset 0) ${raw(alias)} where true`,
  };
}

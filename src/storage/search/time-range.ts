import { type Sql, sql } from '../../db/sql.ts';

/** Conditions on a column of times: at `from` or later, and before `to`; ISO-8601 in UTC. */
export function timeRange(column: Sql, from: string | undefined, to: string | undefined): Sql[] {
  return [
    ...(from === undefined ? [] : [sql`${column} >= ${from}`]),
    ...(to === undefined ? [] : [sql`${column} < ${to}`]),
  ];
}

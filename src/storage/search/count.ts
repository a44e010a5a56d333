import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Reader } from '../db.ts';
import { all, raw, type Sql, sql } from '../sql.ts';
import { sourced } from './find.ts';
import { mayMatch, smallestSource } from './sources.ts';
import type { TableFilter } from './table-search.ts';

/** So many rows of a source are counted at once; more in stretches, as in `walk.ts`. */
const MANY = 10_000;
const STRETCH = 5000;

/** How many rows match. What nothing narrows is looked at row by row, without the states of threads. */
export async function countRows(reader: Reader, filter: TableFilter): Promise<number> {
  const { table, where } = filter;
  if (reader.dialect === 'postgres' || where.length === 0) return count(reader, raw(table), where);
  const source = await smallestSource(reader, filter, MANY);
  if (source && source.size < MANY) return count(reader, sourced(table, source.rows), where);
  return countInStretches(reader, filter);
}

async function countInStretches(reader: Reader, filter: TableFilter): Promise<number> {
  const { table, where } = filter;
  const row_id = raw(`${table}.row_id`);
  const last = await reader.get<{ row_id: number | null }>(
    sql`select max(row_id) as row_id from ${raw(table)}`,
  );
  let total = 0;
  for (let from = 0; from < (last?.row_id ?? 0); from += STRETCH) {
    const stretch = sql`${row_id} > ${from} and ${row_id} <= ${from + STRETCH}`;
    total += await count(reader, raw(table), [stretch, mayMatch(filter), ...where]);
    await nextTurn();
  }
  return total;
}

async function count(reader: Reader, from: Sql, where: TableFilter['where']): Promise<number> {
  const row = await reader.get<{ count: number }>(
    sql`select count(*) as count from ${from} where ${all(where)}`,
  );
  return row?.count ?? 0;
}

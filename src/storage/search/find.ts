import type { Reader } from '../db.ts';
import { all, raw, type Sql, sql } from '../sql.ts';
import { type Source, smallestSource } from './sources.ts';
import type { TablePage } from './table-search.ts';
import { walk } from './walk.ts';

/** So few rows are read and sorted sooner than anything is decided. */
const FEW = 2000;
/** So many are still read and sorted, some 60 ms, rather than a whole table walked. */
const MANY = 20_000;
/** How far we go in the order of the page for the rows of a filter that is not selective: most often far enough. */
const STROLL = 10_000;

/**
 * The ids of a page, in its order. PostgreSQL chooses its way by statistics. On SQLite we choose: the rows of the most
 * selective index, sorted, when they are few; else along the order of the page until it is full. When that goes too far
 * (what matches lies at the other end), the rows again, unless they are too many.
 */
export async function findIds(reader: Reader, page: TablePage): Promise<string[]> {
  if (reader.dialect === 'postgres' || page.where.length === 0) return inOneGo(reader, page, page.table);
  const source = await smallestSource(reader, page, FEW);
  if (source && source.size < FEW) return fromSource(reader, page, source);
  const found = await walk(reader, page, source ? STROLL : Number.POSITIVE_INFINITY);
  if (found) return found;
  const wider = await smallestSource(reader, page, MANY);
  if (wider && wider.size < MANY) return fromSource(reader, page, wider);
  return (await walk(reader, page)) ?? [];
}

function fromSource(reader: Reader, page: TablePage, { rows }: Source): Promise<string[]> {
  return inOneGo(reader, page, sourced(page.table, rows));
}

/** The rows of a source. SQLite takes the tables of a `cross join` in their order. */
export function sourced(table: string, rows: Sql): Sql {
  return sql`(${rows}) source cross join ${raw(table)} on ${raw(table)}.row_id = source.row_id`;
}

async function inOneGo(reader: Reader, page: TablePage, from: string | Sql): Promise<string[]> {
  const { id, sort, limit, offset, where } = page;
  const order = raw(page.order);
  const rows = await reader.all<{ id: string }>(sql`
    select ${raw(id)} as id from ${typeof from === 'string' ? raw(from) : from} where ${all(where)}
    order by ${sort} ${order}, ${raw(id)} ${order} limit ${limit} offset ${offset}`);
  return rows.map((row) => row.id);
}

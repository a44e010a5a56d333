import { nullable, number, text } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { and, raw, type Sql, sql } from '../../db/sql.ts';
import {
  type AccessPath,
  mayMatch,
  mostSelectivePath,
  type SortKey,
  type TableFilter,
  type TablePage,
} from './access-path.ts';
import { byteSlices, idsInSlices } from './byte-slices.ts';

/** Up to this many rows are always read and sorted. */
const SORT_UP_TO = 2000;
/** Up to this many rows, reading and sorting (some 60 ms) still beats a table scan. */
const SORT_FALLBACK_UP_TO = 20_000;
/** Row limit of a keyset scan for a filter that is not selective; mostly enough to fill the page. */
const SCAN_UP_TO = 10_000;

/**
 * Ids of a page, in order. PostgreSQL plans by statistics. On SQLite: the most selective index, sorted, if it yields
 * few rows; else a keyset scan in page order until the page is full. If that scan gets too long (the matches are at the
 * other end), the index again, unless it yields too many rows.
 */
export async function findIds(reader: Reader, page: TablePage): Promise<string[]> {
  if (reader.dialect === 'postgres' || page.where.length === 0) return sortedPage(reader, page, page.table);
  const path = await mostSelectivePath(reader, page, SORT_UP_TO);
  if (path && path.size < SORT_UP_TO) return pageFromPath(reader, page, path);
  const found = await keysetScan(reader, page, path ? SCAN_UP_TO : Number.POSITIVE_INFINITY);
  if (found) return found;
  const wider = await mostSelectivePath(reader, page, SORT_FALLBACK_UP_TO);
  if (wider && wider.size < SORT_FALLBACK_UP_TO) return pageFromPath(reader, page, wider);
  return (await keysetScan(reader, page)) ?? [];
}

async function pageFromPath(reader: Reader, page: TablePage, { rows }: AccessPath): Promise<string[]> {
  const from = joinPath(page.table, rows);
  const range = page.after && afterKeyset(page, page.after);
  const found = await matchesIn(reader, page, { from, range: [range] }, page.offset + page.limit);
  return found.slice(page.offset);
}

/** Joins an access path to its table; SQLite does not reorder a `cross join`. */
function joinPath(table: string, rows: Sql): Sql {
  return sql`(${rows}) source cross join ${raw(table)} on ${raw(table)}.row_id = source.row_id`;
}

async function sortedPage(reader: Reader, page: TablePage, from: string): Promise<string[]> {
  const { id, limit, offset, where, after } = page;
  const rows = await reader.all(sql`
    select ${raw(id)} as ${text('id')} from ${raw(from)} where ${and([...where, after && afterKeyset(page, after)])}
    ${orderBy(page)} limit ${limit} offset ${offset}`);
  return rows.map((row) => row.id);
}

/** Where a part of the matches is looked for. */
interface Part {
  readonly from: Sql;
  /** Conditions that indexes decide. */
  readonly range: readonly (Sql | undefined)[];
}

/** SQLite: the first ids in the order of the page, in slices by the bytes that the conditions read. */
function matchesIn(reader: Reader, page: TablePage, { from, range }: Part, limit: number): Promise<string[]> {
  const { id, where, large } = page;
  return idsInSlices(reader, { from, where: range, id, order: orderBy(page), large }, where, limit);
}

/** The first scan page is mostly enough; a later one blocks the event loop for some 5 ms. */
const FIRST_PAGE_ROWS = 500;
const MAX_PAGE_ROWS = 4000;

/**
 * Scans the index in page order and returns the ids; `undefined` if the page is not full after `maxRows`.
 */
async function keysetScan(
  reader: Reader,
  page: TablePage,
  maxRows = Number.POSITIVE_INFINITY,
): Promise<string[] | undefined> {
  const found: string[] = [];
  let skip = page.offset;
  let from = page.after;
  for (
    let scanned = 0, pageRows = FIRST_PAGE_ROWS;
    scanned < maxRows;
    scanned += pageRows, pageRows = Math.min(MAX_PAGE_ROWS, pageRows * 2)
  ) {
    const to = await keysetAfter(reader, page, from, pageRows);
    const matching = await matchesBetween(reader, page, from, to, skip + page.limit - found.length);
    found.push(...matching.slice(skip));
    skip = Math.max(0, skip - matching.length);
    if (found.length === page.limit || !to) return found;
    from = to;
  }
  return undefined;
}

/** Keyset at the end of the next scan page; `undefined` on the last one. */
function keysetAfter(
  reader: Reader,
  page: TablePage,
  from: SortKey | undefined,
  rows: number,
): Promise<SortKey | undefined> {
  return reader.get(sql`
    select ${page.sort} as ${text('sort')}, ${raw(page.id)} as ${text('id')}
    from ${raw(page.table)} where ${afterKeyset(page, from)}
    ${orderBy(page)} limit 1 offset ${rows - 1}`);
}

function matchesBetween(
  reader: Reader,
  page: TablePage,
  from: SortKey | undefined,
  to: SortKey | undefined,
  limit: number,
): Promise<string[]> {
  const until =
    to && sql`${keysetColumns(page)} ${raw(page.order === 'asc' ? '<=' : '>=')} (${to.sort}, ${to.id})`;
  const range = [afterKeyset(page, from), until, mayMatch(page)];
  return matchesIn(reader, page, { from: raw(page.table), range }, limit);
}

function afterKeyset(page: TablePage, from: SortKey | undefined): Sql {
  if (!from) return and([]);
  return sql`${keysetColumns(page)} ${raw(page.order === 'asc' ? '>' : '<')} (${from.sort}, ${from.id})`;
}

function keysetColumns({ sort, id }: TablePage): Sql {
  return sql`(${sort}, ${raw(id)})`;
}

function orderBy({ sort, id, order }: TablePage): Sql {
  return sql`order by ${sort} ${raw(order)}, ${raw(id)} ${raw(order)}`;
}

/** Up to this many rows of an access path are counted in one statement; more in pages, like `keysetScan`. */
const MAX_DIRECT_COUNT = 10_000;
const COUNT_PAGE_ROWS = 5000;

/** Number of matching rows. Without a selective index it scans the table, but not the threads' states. */
export async function countRows(reader: Reader, filter: TableFilter): Promise<number> {
  const { table, where } = filter;
  const all = { from: raw(table), range: [] };
  if (reader.dialect === 'postgres' || where.length === 0) return count(reader, filter, all);
  const path = await mostSelectivePath(reader, filter, MAX_DIRECT_COUNT);
  if (path && path.size < MAX_DIRECT_COUNT)
    return count(reader, filter, { from: joinPath(table, path.rows), range: [] });
  return countByPages(reader, filter);
}

async function countByPages(reader: Reader, filter: TableFilter): Promise<number> {
  const { table } = filter;
  const row_id = raw(`${table}.row_id`);
  const last = await reader.get(sql`select max(row_id) as ${nullable(number('row_id'))} from ${raw(table)}`);
  let total = 0;
  for (let from = 0; from < (last?.row_id ?? 0); from += COUNT_PAGE_ROWS) {
    const range = sql`${row_id} > ${from} and ${row_id} <= ${from + COUNT_PAGE_ROWS}`;
    total += await count(reader, filter, { from: raw(table), range: [range, mayMatch(filter)] });
  }
  return total;
}

async function count(
  reader: Reader,
  { table, where, large }: TableFilter,
  { from, range }: Part,
): Promise<number> {
  const id = `${table}.${table === 'threads' ? 'thread_id' : 'assistant_id'}`;
  let total = 0;
  for await (const slice of byteSlices(reader, { from, where: range, id, large })) {
    const row = await reader.get(
      sql`select count(*) as ${number('count')} from ${from} where ${and([...range, slice, ...where])}`,
    );
    total += row?.count ?? 0;
  }
  return total;
}

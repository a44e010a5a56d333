import { number, text } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { and, type DialectSql, defined, raw, type Sql, sql } from '../../db/sql.ts';
import { byteSlices, isLarge, type LargeRows } from './byte-slices.ts';

/** A position in a list: a time, ISO-8601, and an id that breaks ties. */
export interface Keyset {
  readonly at: string;
  readonly id: string;
}

/** A list in the order of an index. */
export interface KeysetList {
  /** Columns of the index, such as `runs.created_at` and `runs.run_id`. */
  readonly at: string;
  readonly id: string;
  readonly order: 'asc' | 'desc';
  /** What is scanned: the table, for SQLite with the index that has the order. */
  readonly scanned: Sql | DialectSql;
  /** Conditions that the index alone decides. */
  readonly indexed: readonly (Sql | DialectSql)[];
  /** The other conditions. */
  readonly where: readonly (Sql | DialectSql)[];
  /** User data that `where` reads of each row. */
  readonly large: readonly Sql[];
  /** SQLite: a `from` clause of few rows, in no order, that has every match. Replaces the scan. */
  readonly few?: Sql | undefined;
  /** An index has the time of these few, and all that `where` asks for, but not their ids. */
  readonly has_indexed_times?: boolean;
  /** SQLite, whose reads block the event loop: the number of entries of the index that a page examines at most. */
  readonly examined_rows: number;
}

export interface KeysetRange {
  readonly after?: Keyset | undefined;
  /** The row at `after` belongs to the page too. */
  readonly is_inclusive?: boolean;
  readonly limit: number;
}

export interface KeysetPage {
  readonly found: Keyset[];
  /** The next page is after this; `undefined` at the end of the list. */
  readonly next: Keyset | undefined;
}

/** For rows that cost a microsecond. */
export const EXAMINED_ROWS = 5000;
const FIRST_SLICE_ROWS = 500;
const MAX_SLICE_ROWS = 4000;

/**
 * A page of the list. PostgreSQL plans it by statistics. SQLite scans the index in slices until the page is full or
 * `examined_rows` are examined: a filter that few rows match gives pages that are not full although more follow, each in
 * bounded time.
 */
export async function keysetPage(
  reader: Reader,
  list: KeysetList,
  { after, is_inclusive = false, limit }: KeysetRange,
): Promise<KeysetPage> {
  const first = afterCondition(list, after, is_inclusive);
  if (list.few && list.has_indexed_times && !(await isLarge(reader, largeRows(list, [first])))) {
    const last = await timeOfLast(reader, list, after, limit);
    return pageOf(await matchesIn(reader, list, [first, last], limit + 1), limit);
  }
  if (reader.dialect === 'postgres' || list.few || list.where.length === 0) {
    return pageOf(await matchesIn(reader, list, [first], limit + 1), limit);
  }
  const found: Keyset[] = [];
  let [start, rows] = [first, FIRST_SLICE_ROWS];
  for (let left = list.examined_rows; ; rows = Math.min(rows * 2, MAX_SLICE_ROWS, left)) {
    const end = await endOfSlice(reader, list, start, rows);
    found.push(...(await matchesIn(reader, list, [start, until(list, end)], limit + 1 - found.length)));
    if (found.length > limit || !end) return pageOf(found, limit);
    left -= rows;
    if (left <= 0) return { found, next: end };
    start = afterCondition(list, end, false);
  }
}

/**
 * One page of two lists of the same order, newest first. What is in both counts once: it may move from the first to the
 * second between two reads.
 */
export function mergePages(one: KeysetPage, other: KeysetPage, limit: number): KeysetPage {
  // Beyond the end of a page its list has not been read.
  const [end] = defined([one.next, other.next]).sort(newestFirst);
  const found = [...new Map([...one.found, ...other.found].map((each) => [each.id, each])).values()]
    .filter((each) => end === undefined || newestFirst(each, end) <= 0)
    .sort(newestFirst);
  return { found: found.slice(0, limit), next: found.length > limit ? found[limit - 1] : end };
}

function newestFirst(one: Keyset, other: Keyset): number {
  const [a, b] = one.at === other.at ? [one.id, other.id] : [one.at, other.at];
  return a < b ? 1 : Number(a > b) * -1;
}

/** Bound of the page by time alone: only rows of the few within it need be read for their ids. */
async function timeOfLast(
  reader: Reader,
  { at, order, few, scanned, indexed, where }: KeysetList,
  after: Keyset | undefined,
  limit: number,
): Promise<Sql | undefined> {
  const [later, upTo] = order === 'asc' ? ['>', '<='] : ['<', '>='];
  // Rows of the same time as `after` come on top.
  const range = after && sql`${raw(at)} ${raw(later)} ${after.at}`;
  const row = await reader.get(sql`
    select ${raw(at)} as ${text('at')} from ${few ?? scanned} where ${and([...indexed, range, ...where])}
    order by ${raw(at)} ${raw(order)} limit 1 offset ${limit}`);
  return row && sql`${raw(at)} ${raw(upTo)} ${row.at}`;
}

/** `found` has one row more than the page if another page follows. */
function pageOf(found: readonly Keyset[], limit: number): KeysetPage {
  return { found: found.slice(0, limit), next: found.length > limit ? found[limit - 1] : undefined };
}

async function matchesIn(
  reader: Reader,
  list: KeysetList,
  range: readonly (Sql | undefined)[],
  limit: number,
): Promise<Keyset[]> {
  const { indexed, where, few, scanned } = list;
  const found: Keyset[] = [];
  for await (const slice of byteSlices(reader, largeRows(list, range))) {
    found.push(
      ...(await reader.all(sql`
        select ${keysetColumns(list)} from ${few ?? scanned} where ${and([...indexed, ...range, slice, ...where])}
        ${orderBy(list)} limit ${limit - found.length}`)),
    );
    if (found.length === limit) break;
  }
  return found;
}

function largeRows(list: KeysetList, range: readonly (Sql | undefined)[]): LargeRows {
  const { few, scanned, indexed, id, large } = list;
  return { from: few ?? scanned, where: [...indexed, ...range], id, order: orderBy(list), large };
}

/** The last entry of the next `rows` of the index, `undefined` if it ends before. */
function endOfSlice(
  reader: Reader,
  list: KeysetList,
  start: Sql | undefined,
  rows: number,
): Promise<Keyset | undefined> {
  return reader.get(sql`
    select ${keysetColumns(list)} from ${list.scanned} where ${and([...list.indexed, start])}
    ${orderBy(list)} limit 1 offset ${rows - 1}`);
}

const COUNTED_ROWS = 5000;

/** The number of rows in the list. On SQLite in slices, between which other requests are served. */
export async function countKeyset(reader: Reader, list: KeysetList): Promise<number> {
  if (reader.dialect === 'postgres' || list.few) return countWhere(reader, list, []);
  let total = 0;
  for (let start: Sql | undefined; ; ) {
    const end = await endOfSlice(reader, list, start, COUNTED_ROWS);
    total += await countWhere(reader, list, [start, until(list, end)]);
    if (!end) return total;
    start = afterCondition(list, end, false);
  }
}

async function countWhere(
  reader: Reader,
  list: KeysetList,
  range: readonly (Sql | undefined)[],
): Promise<number> {
  const { few, scanned, indexed, where } = list;
  let total = 0;
  for await (const slice of byteSlices(reader, largeRows(list, range))) {
    const row = await reader.get(sql`
      select count(*) as ${number('count')} from ${few ?? scanned}
      where ${and([...indexed, ...range, slice, ...where])}`);
    total += row?.count ?? 0;
  }
  return total;
}

/** The number of rows of a `from` clause, at most `bound`. */
export async function boundedCount(reader: Reader, from: Sql, bound: number): Promise<number> {
  const row = await reader.get(
    sql`select count(*) as ${number('count')} from (select 1 from ${from} limit ${bound}) counted`,
  );
  return row?.count ?? 0;
}

function afterCondition(list: KeysetList, from: Keyset | undefined, is_inclusive: boolean): Sql | undefined {
  return from && compared(list, `${list.order === 'asc' ? '>' : '<'}${is_inclusive ? '=' : ''}`, from);
}

function until(list: KeysetList, end: Keyset | undefined): Sql | undefined {
  return end && compared(list, list.order === 'asc' ? '<=' : '>=', end);
}

function compared({ at, id }: KeysetList, operator: string, keyset: Keyset): Sql {
  return sql`(${raw(at)}, ${raw(id)}) ${raw(operator)} (${keyset.at}, ${keyset.id})`;
}

function keysetColumns({ at, id }: KeysetList) {
  return sql`${raw(at)} as ${text('at')}, ${raw(id)} as ${text('id')}`;
}

function orderBy({ at, id, order }: KeysetList): Sql {
  return raw(`order by ${at} ${order}, ${id} ${order}`);
}

import { toJson } from '../../core/json.ts';
import { number, text } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { and, type DialectSql, join, raw, type Sql, sql } from '../../db/sql.ts';

/**
 * User data that one step reads, decrypts, parses or matches, bytes: some 20 ms. A row that is larger is a step of its
 * own.
 */
export const SLICE_BYTES = 4 * 1024 * 1024;

/** Rows whose user data a condition reads. */
export interface LargeRows {
  readonly from: Sql | DialectSql;
  /** Conditions that read none of it: they decide which rows are read at all. */
  readonly where: readonly (Sql | DialectSql | undefined)[];
  /** Unique text column. */
  readonly id: string;
  /** `order by …`; by default in any order. */
  readonly order?: Sql | undefined;
  /** Columns and values that the condition reads; empty if it reads none that may be large. */
  readonly large: readonly Sql[];
}

/**
 * Conditions that divide the rows into slices, in their order: one slice where the rows are small, as nearly always.
 * A statement of SQLite blocks the event loop, whatever it reads; each read yields first if it is due. PostgreSQL gets
 * one slice of everything.
 */
export async function* byteSlices(
  reader: Reader,
  rows: LargeRows,
  max_bytes = SLICE_BYTES,
): AsyncGenerator<Sql> {
  if (!(await isLarge(reader, rows, max_bytes))) return yield raw('true');
  const { from, where, id, order = raw('') } = rows;
  const sized = await reader.all(sql`
    select ${raw(id)} as ${text('id')}, ${sumOf(rows.large)} as ${number('bytes')} from ${from}
    where ${and(where)} ${order}`);
  for (const slice of slicesOf(sized, max_bytes)) {
    const ids = toJson(slice.map((row) => row.id));
    yield sql`${raw(id)} in (select value from json_each(${ids}))`;
  }
}

/**
 * The first ids, in the order of the rows, of those that also meet `conditions`, which may read what is large; in
 * slices, until there are `limit`.
 */
export async function idsInSlices(
  reader: Reader,
  rows: LargeRows,
  conditions: readonly (Sql | DialectSql | undefined)[],
  limit: number,
): Promise<string[]> {
  const { from, where, id, order = raw('') } = rows;
  const found: string[] = [];
  for await (const slice of byteSlices(reader, rows)) {
    const matching = await reader.all(sql`
      select ${raw(id)} as ${text('id')} from ${from} where ${and([...where, slice, ...conditions])}
      ${order} limit ${limit - found.length}`);
    for (const row of matching) found.push(row.id);
    if (found.length === limit) break;
  }
  return found;
}

/** True if the rows need more than one slice. */
export async function isLarge(reader: Reader, rows: LargeRows, max_bytes = SLICE_BYTES): Promise<boolean> {
  if (reader.dialect === 'postgres' || rows.large.length === 0) return false;
  const { from, where } = rows;
  const sum = sql`cast(coalesce(sum(${sumOf(rows.large)}), 0) as bigint) as ${number('bytes')}`;
  const row = await reader.get(sql`select ${sum} from ${from} where ${and(where)}`);
  return (row?.bytes ?? 0) > max_bytes;
}

/** Consecutive rows that have at most this many bytes together, or one row each. */
export function slicesOf<Row extends { readonly bytes: number }>(
  rows: readonly Row[],
  max_bytes = SLICE_BYTES,
): Row[][] {
  const slices: Row[][] = [];
  let left = 0;
  for (const row of rows) {
    left -= row.bytes;
    if (left >= 0) slices.at(-1)?.push(row);
    else {
      slices.push([row]);
      left = max_bytes - row.bytes;
    }
  }
  return slices;
}

/** Stored size of these values of one row, bytes. */
export function sumOf(values: readonly Sql[]): Sql {
  return join(
    values.map((value) => sql`coalesce(${octetLength(value)}, 0)`),
    ' + ',
  );
}

/** Stored size, bytes. SQLite knows it of a column without reading the value. */
export function octetLength(value: Sql): DialectSql {
  return { sqlite: sql`octet_length(${value})`, postgres: sql`octet_length((${value})::text)` };
}

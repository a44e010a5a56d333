import { InvalidInput } from '../../core/errors.ts';
import { number } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { type DialectSql, join, raw, type Sql, sql } from '../../db/sql.ts';

/** Most JSON of one list, bytes: ten runs, the default page, with inputs of the default body limit, also encrypted. */
export const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Read whatever their size: a page of one row, and the next row, which tells whether another page follows. */
const ALWAYS_READ_ROWS = 2;

export interface BoundedList<Row> {
  /** Plural, such as `threads`. */
  readonly what: string;
  /** What a client can do beside lowering the limit. */
  readonly or?: string | undefined;
  /** The statement, with a condition on top of its own. */
  readonly select: (fits: Sql) => Sql<Row>;
  /** Its rows: `from` and what follows. */
  readonly from: Sql;
  /** Their number at most. */
  readonly limit: number;
  /** What is large of them. */
  readonly large: readonly Sql[];
  /** The same more exactly, but slower to compute: decides where `large` is too large. */
  readonly exactly?: readonly Sql[] | undefined;
  readonly max_bytes?: number | undefined;
}

/**
 * Reads several rows only if their JSON is small enough for one reply, which the same statement finds out first. Throws
 * `InvalidInput` otherwise: a shorter page would be taken for the last one.
 */
export async function boundedRows<Row>(
  reader: Reader,
  { what, or, select, from, limit, large, exactly, max_bytes = MAX_LIST_BYTES }: BoundedList<Row>,
): Promise<Row[]> {
  if (limit <= ALWAYS_READ_ROWS) return reader.all(select(raw('true')));
  const sizes = [large, ...(exactly ? [exactly] : [])].map((values) => storedBytes(values, from));
  const fits = sizes.map((bytes) => sql`${bytes} <= ${max_bytes}`);
  const rows = await reader.all(select(sql`(${join(fits, ' or ')})`));
  if (rows.length > 0) return rows;
  const { bytes = 0 } = (await reader.get(sql`select ${sizes.at(-1) as Sql} as ${number('bytes')}`)) ?? {};
  if (bytes > max_bytes) throw tooLarge(`these ${what} have ${bytes} bytes`, max_bytes, or);
  return rows;
}

/** `size`: what is too large, and how large it is. */
export function tooLarge(size: string, max_bytes: number, or?: string): InvalidInput {
  const way = or === undefined ? 'Lower the limit' : `Lower the limit, or ${or}`;
  return new InvalidInput(`limit: ${size}, but a response may have at most ${max_bytes}. ${way}.`);
}

/** Stored size of these values of the rows, bytes. */
export function storedBytes(values: readonly Sql[], from: Sql): Sql {
  const bytes = values.map((value) => sql`coalesce(${octetLength(value)}, 0)`);
  return sql`(select cast(coalesce(sum(bytes), 0) as bigint) from (select ${join(bytes, ' + ')} as bytes ${from}) sized)`;
}

/** Stored size, bytes. SQLite knows it of a column without reading the value. */
export function octetLength(value: Sql): DialectSql {
  return { sqlite: sql`octet_length(${value})`, postgres: sql`octet_length((${value})::text)` };
}

import { columnsNamed, number } from '../../../db/columns.ts';
import type { Reader } from '../../../db/db.ts';
import { and, join, list, raw, type Sql, type SqlValue, sql } from '../../../db/sql.ts';
import type { Side } from './side.ts';
import type { CopiedTable, Row } from './tables.ts';
import { PGVECTOR_COLUMNS, VECTORS_TABLE, withBytes } from './vectors.ts';

/** Values of a table's key. */
export type Key = readonly SqlValue[];

export interface Batch {
  readonly rows: readonly Row[];
  /** Key of the last row. */
  readonly last: Key;
}

/** Bounds of what is in memory: rows, and their bytes unless a single row has more. */
const BATCH_ROWS = 500;
const BATCH_BYTES = 4 * 1024 ** 2;

/** The rows of a table behind `after` in the order of its key, in batches that hold all rows of each key. */
export async function* batches(
  { reader, has_pgvector }: Side,
  table: CopiedTable,
  after?: Key,
): AsyncGenerator<Batch> {
  const names = table.columns.map(({ name }) => name);
  const embedded = has_pgvector && table.name === VECTORS_TABLE;
  for (let from = after; ; ) {
    const last = await endOfBatch(reader, table, from);
    if (!last) return;
    const rows = await reader.all(sql`
      select ${columnsNamed(embedded ? PGVECTOR_COLUMNS : names)} from ${raw(table.name)}
      where ${behind(table, from)} and ${compared(table, '<=', last)} order by ${raw(table.key.join(', '))}`);
    yield { rows: embedded ? rows.map(withBytes) : rows, last };
    from = last;
  }
}

/** The key at which the next batch ends; `undefined` if there are no more rows. */
async function endOfBatch(
  reader: Reader,
  table: CopiedTable,
  after: Key | undefined,
): Promise<Key | undefined> {
  const bytes = table.columns
    .filter(({ name, kind }) => kind === 'bytes' || !table.key.includes(name))
    .map(({ name, kind }) =>
      raw(`coalesce(octet_length(${kind === 'bytes' ? name : `cast(${name} as text)`}), 0)`),
    );
  const rows = await reader.all(sql`
    select ${columnsNamed(table.key)}, ${join(bytes.length > 0 ? bytes : [raw('0')], ' + ')} as ${number('row_bytes')}
    from ${raw(table.name)} where ${behind(table, after)}
    order by ${raw(table.key.join(', '))} limit ${BATCH_ROWS}`);
  let sum = 0;
  for (const row of rows) {
    sum += row.row_bytes;
    if (sum > BATCH_BYTES) return keyOf(table, row);
  }
  const last = rows.at(-1);
  return last && keyOf(table, last);
}

function keyOf({ key }: CopiedTable, row: Row): Key {
  return key.map((name) => row[name] as SqlValue);
}

function behind(table: CopiedTable, after: Key | undefined): Sql {
  return and([after && compared(table, '>', after)]);
}

function compared({ key }: CopiedTable, than: '>' | '<=', values: Key): Sql {
  return sql`(${raw(key.join(', '))}) ${raw(than)} ${list(values)}`;
}

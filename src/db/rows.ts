import { Unavailable } from '../core/errors.ts';
import type { Columns } from './columns.ts';
import type { Transaction } from './db.ts';
import { join, type Sql, sql } from './sql.ts';

/** Each size is another statement text: bounded, so that prepared statements are reused. */
const MAX_ROWS_PER_INSERT = 50;

/** `insert into <into> values <rows> <on conflict>`, in as few statements as possible; a single one is deferred. */
export async function insertRows(
  tx: Transaction,
  into: Sql,
  rows: readonly Sql[],
  onConflict: Sql,
): Promise<void> {
  for (let start = 0; start < rows.length; start += MAX_ROWS_PER_INSERT) {
    const values = join(rows.slice(start, start + MAX_ROWS_PER_INSERT), ', ');
    const insert = sql`insert into ${into} values ${values} ${onConflict}`;
    if (rows.length <= MAX_ROWS_PER_INSERT) tx.defer(insert);
    // Many rows are not held in memory until the next round trip.
    else await tx.run(insert);
  }
}

/** The same, but returns these columns of the rows that were inserted without a conflict. */
export async function insertRowsReturning<Row>(
  tx: Transaction,
  into: Sql,
  rows: readonly Sql[],
  { onConflict, returning }: { readonly onConflict: Sql; readonly returning: Columns<Row> },
): Promise<Row[]> {
  const inserted: Row[] = [];
  for (let start = 0; start < rows.length; start += MAX_ROWS_PER_INSERT) {
    const values = join(rows.slice(start, start + MAX_ROWS_PER_INSERT), ', ');
    const query = sql`insert into ${into} values ${values} ${onConflict} returning ${returning}`;
    inserted.push(...((await tx.all(query)) as Row[]));
  }
  return inserted;
}

/** After this many storage failures in a row, storage is unavailable, and not just one row locked. */
const MAX_CONSECUTIVE_OUTAGES = 3;

/**
 * Applies `action` to one row after the other. A failing row is passed to `onError` and does not block the others; if
 * storage itself is unavailable, throws and leaves the rest for later.
 */
export async function forEachRow<Row>(
  rows: Iterable<Row>,
  action: (row: Row) => Promise<void>,
  onError: (row: Row, error: unknown) => void,
): Promise<void> {
  let outages = 0;
  for (const row of rows) {
    try {
      await action(row);
      outages = 0;
    } catch (error) {
      outages = error instanceof Unavailable ? outages + 1 : 0;
      if (outages === MAX_CONSECUTIVE_OUTAGES) throw error;
      onError(row, error);
    }
  }
}

import { Unavailable } from '../core/errors.ts';
import type { Transaction } from './db.ts';
import { join, type Sql, sql } from './sql.ts';

/** One text of the statement for each size: bounded, so that prepared statements are used again. */
const MAX_ROWS_PER_INSERT = 50;

/** `insert into <into> values <rows> <on conflict>` in as few statements as may be. */
export async function insertRows(
  tx: Transaction,
  into: Sql,
  rows: readonly Sql[],
  onConflict: Sql,
): Promise<void> {
  for (let start = 0; start < rows.length; start += MAX_ROWS_PER_INSERT) {
    const values = join(rows.slice(start, start + MAX_ROWS_PER_INSERT), ', ');
    await tx.run(sql`insert into ${into} values ${values} ${onConflict}`);
  }
}

/** So many failures of storage in a row are not the fault of a row, such as one whose lock somebody holds. */
const MAX_CONSECUTIVE_OUTAGES = 3;

/**
 * Does something to one row after the other. One that fails is handed to `failed` and does not hold up the others; when
 * storage itself is away its error is thrown, and the rest is left for later.
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

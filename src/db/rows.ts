import { Unavailable } from '../core/errors.ts';
import type { Transaction } from './db.ts';
import { join, type Sql, sql } from './sql.ts';

/** One text of the statement for each size: bounded, so that prepared statements are used again. */
const ROWS_AT_ONCE = 50;

/** `insert into <into> values <rows> <on conflict>` in as few statements as may be. */
export async function insertRows(
  tx: Transaction,
  into: Sql,
  rows: readonly Sql[],
  onConflict: Sql,
): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const values = join(rows.slice(start, start + ROWS_AT_ONCE), ', ');
    await tx.run(sql`insert into ${into} values ${values} ${onConflict}`);
  }
}

/** So many failures of storage in a row are not the fault of a row, such as one whose lock somebody holds. */
const AWAY_AFTER = 3;

/**
 * Does something to one row after the other. One that fails is handed to `failed` and does not hold up the others; when
 * storage itself is away its error is thrown, and the rest is left for later.
 */
export async function eachRow<Row>(
  rows: Iterable<Row>,
  action: (row: Row) => Promise<void>,
  failed: (row: Row, error: unknown) => void,
): Promise<void> {
  let away = 0;
  for (const row of rows) {
    try {
      await action(row);
      away = 0;
    } catch (error) {
      away = error instanceof Unavailable ? away + 1 : 0;
      if (away === AWAY_AFTER) throw error;
      failed(row, error);
    }
  }
}

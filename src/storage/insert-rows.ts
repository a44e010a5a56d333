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

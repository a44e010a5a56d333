import { toJson } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import type { RunStatus } from '../../schemas/runs.ts';
import type { RunError } from '../../schemas/threads.ts';
import { RUN_ERROR_COLUMN } from './runs.ts';
import type { HeadRow } from './thread-lock.ts';

const ERROR = columns('runs', 'error');

/**
 * Part of the transaction that ends a run: its final status, error and times. Resolves to the JSON text of its error. That
 * which a cancel stored takes precedence over what the stopped attempt threw.
 */
export async function endRow(
  tx: Transaction,
  { run_id, cancel_action }: Pick<HeadRow, 'run_id' | 'cancel_action'>,
  end: { readonly status: RunStatus; readonly error: RunError | null; readonly at: string },
): Promise<string | null> {
  const thrown = end.error && toJson(end.error);
  const failure = thrown && tx.cipher.encryptJson(RUN_ERROR_COLUMN, thrown);
  const update = sql`
    update runs set status = ${end.status}, error = coalesce(error, ${failure}),
      updated_at = ${end.at}, ended_at = ${end.at}
    where run_id = ${run_id}`;
  if (cancel_action === null) {
    tx.defer(update);
    return thrown;
  }
  const row = await tx.get(sql`${update} returning ${ERROR}`);
  return row?.error ? tx.cipher.decryptJson(RUN_ERROR_COLUMN, row.error) : null;
}

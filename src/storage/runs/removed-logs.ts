import type { Transaction } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { nowPlus } from '../../db/time.ts';
import { encryptLines, type LogLines } from './run-logs.ts';

/** How long lines outlive their run at most, ms: followers in other processes look for lines twice a second. */
const REMOVED_LOG_MS = 60_000;

/** A run that is removed at its end, and whose lines stay for its followers. */
export interface RemovedRun {
  readonly run_id: string;
  /** Log retention of the run, ms. */
  readonly log_retention_ms: number;
}

/** Part of the transaction that deletes the run, before it does: its stored lines stay for its followers. */
export function keepRemovedLog(tx: Transaction, { run_id, log_retention_ms }: RemovedRun): void {
  tx.defer(sql`
    insert into removed_run_logs (run_id, seq, attempt, expires_at, data)
    select run_id, seq, attempt, ${expiry(log_retention_ms)}, data from run_logs where run_id = ${run_id}`);
}

/** Part of the same transaction, afterwards: lines of its batch, which may be stored already. */
export function appendRemovedLog(
  tx: Transaction,
  { run_id, log_retention_ms }: RemovedRun,
  { attempt, seq, lines }: LogLines,
): void {
  tx.defer(sql`
    insert into removed_run_logs (run_id, seq, attempt, expires_at, data)
    values (${run_id}, ${seq}, ${attempt}, ${expiry(log_retention_ms)}, ${encryptLines(tx, lines)})
    on conflict (run_id, seq) do nothing`);
}

function expiry(log_retention_ms: number) {
  return nowPlus(Math.min(log_retention_ms, REMOVED_LOG_MS));
}

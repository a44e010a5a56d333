import type { Transaction } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { NOW, nowPlus } from '../../db/time.ts';
import { encryptLines, type LogLines, type StoredLines } from './run-logs.ts';

/** How long lines outlive their run at most, ms: followers in other processes look for lines twice a second. */
const REMOVED_LOG_MS = 60_000;

/** A run that is removed at its end, and whose lines stay for its followers. */
export interface RemovedRun {
  readonly run_id: string;
  /** Log retention of the run, ms. */
  readonly log_retention_ms: number;
}

/** What its lines are found by once it is gone. */
type RunOrigin = Pick<StoredLines, 'thread_id' | 'assistant_id'>;

/** Part of the transaction that deletes the run, before it does: its stored lines stay for its followers. */
export function keepRemovedLog(tx: Transaction, { run_id, log_retention_ms }: RemovedRun): void {
  tx.defer(sql`
    insert into removed_run_logs (run_id, thread_id, assistant_id, seq, attempt, created_at, expires_at, data)
    select r.run_id, r.thread_id, r.assistant_id, l.seq, l.attempt, l.created_at, ${expiry(log_retention_ms)}, l.data
    from run_logs l join runs r on r.run_id = l.run_id where l.run_id = ${run_id}`);
}

/** Part of the same transaction, afterwards: lines of its batch, which may be stored already. */
export function appendRemovedLog(
  tx: Transaction,
  { run_id, thread_id, assistant_id, log_retention_ms }: RemovedRun & RunOrigin,
  { attempt, seq, lines }: LogLines,
): void {
  tx.defer(sql`
    insert into removed_run_logs (run_id, thread_id, assistant_id, seq, attempt, created_at, expires_at, data)
    values (${run_id}, ${thread_id}, ${assistant_id}, ${seq}, ${attempt}, ${NOW}, ${expiry(log_retention_ms)},
      ${encryptLines(tx, lines)})
    on conflict (run_id, seq) do nothing`);
}

function expiry(log_retention_ms: number) {
  return nowPlus(Math.min(log_retention_ms, REMOVED_LOG_MS));
}

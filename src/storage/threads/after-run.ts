import { toJson } from '../../core/json.ts';
import type { Transaction } from '../../db/db.ts';
import { raw, sql } from '../../db/sql.ts';
import type { Interrupt, ThreadStatus } from '../../schemas/threads.ts';
import { deleteCheckpointsOfRun } from '../checkpoints/delete.ts';
import type { Lease } from '../runs/lease.ts';
import type { RemovedRunEnd } from '../runs/removed-runs.ts';
import { deleteTemporaryThread } from './delete-temporary.ts';
import { EXPIRY_AFTER_STATE, THREAD_COLUMNS } from './row.ts';
import { encryptSummary, type SerializedState } from './values-summary.ts';

/** State of a thread after a run. */
export interface ThreadAfterRun {
  /** Applies when no other run is in flight. */
  readonly status: Exclude<ThreadStatus, 'busy'>;
  /** Null leaves the values unchanged: the run produced no state. */
  readonly values: SerializedState | null;
  readonly interrupts: Record<string, readonly Interrupt[]>;
  readonly config: Record<string, unknown>;
}

/** What the end of a run may remove. */
export interface Removal {
  /** The run created its thread for itself: delete the thread too. */
  readonly remove_thread: boolean;
  /** Lines that the run printed may be stored. */
  readonly has_lines?: boolean;
  /** Log retention from now on, ms. */
  readonly log_retention_ms: number;
}

/**
 * Part of the transaction that ends a run, once its queue row is gone: deletes the thread that it made for itself, or
 * the checkpoints of a run that is rolled back, which has no `end`. Returns true if the thread is deleted, and the run
 * with it.
 */
export async function removeAfterRun(
  tx: Transaction,
  { run_id, thread_id }: Lease,
  { remove_thread, has_lines, log_retention_ms }: Removal,
  end: RemovedRunEnd | undefined,
): Promise<boolean> {
  const isRollback = end === undefined;
  const remains = end && { run_id, end, log_retention_ms: has_lines ? log_retention_ms : undefined };
  const removed = remove_thread && (await deleteTemporaryThread(tx, thread_id, remains));
  if (!removed && isRollback) await deleteCheckpointsOfRun(tx, thread_id, run_id);
  return removed;
}

/** Part of the same transaction: how the run leaves its thread. `error`: JSON text. */
export function updateAfterRun(
  tx: Transaction,
  thread_id: string,
  thread: ThreadAfterRun,
  error: string | null,
  at: string,
): void {
  const { cipher } = tx;
  const summary = thread.values
    ? sql`${encryptSummary(cipher, thread.values.summary)}`
    : raw('values_summary');
  tx.defer(sql`
    update threads set status = ${thread.status}, error = ${error && cipher.encryptJson(THREAD_COLUMNS.error, error)},
      interrupts = ${cipher.encryptJson(THREAD_COLUMNS.interrupts, toJson(thread.interrupts))},
      config = ${cipher.encryptJson(THREAD_COLUMNS.config, toJson(thread.config))}, values_summary = ${summary}, updated_at = ${at}, state_updated_at = ${at},
      ${EXPIRY_AFTER_STATE}
    where thread_id = ${thread_id}`);
  if (thread.values === null) return;
  tx.defer(sql`
    insert into thread_values (thread_id, value) values (${thread_id}, ${cipher.encryptJson(THREAD_COLUMNS.values, thread.values.text)})
    on conflict (thread_id) do update set value = excluded.value`);
}

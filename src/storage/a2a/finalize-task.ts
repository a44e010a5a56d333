import { toJson } from '../../core/json.ts';
import type { Transaction } from '../../db/db.ts';
import { isOneOf } from '../../db/json.ts';
import { sql } from '../../db/sql.ts';
import { type NotificationBody, notifySubscribers } from './push-configs.ts';

/** What became of a task when its run had ended. */
export interface TaskResult {
  readonly state: string;
  readonly reason?: string | undefined;
  /** As JSON of protocol 1.0. */
  readonly artifacts: readonly unknown[];
  /** Since when, ISO-8601, where it is not the end of the run. */
  readonly at?: string | undefined;
}

export interface TaskFinalization {
  /** The task as it was when this was found out. */
  readonly row: {
    readonly task_id: string;
    readonly thread_id: string;
    readonly run_id: string;
    readonly state: string | null;
  };
  readonly result: TaskResult;
  /** Runs whose events are among the artifacts now. */
  readonly collected_runs?: readonly string[];
  /** What its subscribers are told; undefined: nothing. */
  readonly notification: NotificationBody | undefined;
}

export const ARTIFACTS_COLUMN = 'a2a_tasks.artifacts';
export const REASON_COLUMN = 'a2a_tasks.reason';

/**
 * Keeps what became of a task and puts what its subscribers are told into the outbox: one commit. False when it went on,
 * or was settled by somebody else, meanwhile. Its row is locked first: a subscriber comes before this, or sees it.
 */
export async function finalizeTask(tx: Transaction, finalization: TaskFinalization): Promise<boolean> {
  const { row, result, collected_runs = [], notification } = finalization;
  const { task_id, run_id } = row;
  const unchanged = row.state === null ? sql`state is null` : sql`state = ${row.state}`;
  const reason = result.reason === undefined ? null : tx.cipher.encryptText(REASON_COLUMN, result.reason);
  const artifacts = tx.cipher.encryptJson(ARTIFACTS_COLUMN, toJson(result.artifacts));
  const changed = await tx.run(sql`
    update a2a_tasks set state = ${result.state}, reason = ${reason}, state_at = ${result.at ?? null},
      artifacts = ${artifacts}
    where task_id = ${task_id} and run_id = ${run_id} and ${unchanged}`);
  if (changed === 0) return false;
  if (collected_runs.length > 0) {
    await tx.run(
      sql`update a2a_turns set is_kept = 1 where task_id = ${task_id} and ${isOneOf('run_id', collected_runs)}`,
    );
  }
  if (notification) await notifySubscribers(tx, row, notification);
  return true;
}

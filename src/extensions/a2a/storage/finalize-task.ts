import { toJson } from '../../../core/json.ts';
import type { Transaction } from '../../../db/db.ts';
import { isOneOf } from '../../../db/json.ts';
import { sql } from '../../../db/sql.ts';
import { type NotificationBody, notifySubscribers } from './push-configs.ts';

/** Result of a task after its run has ended. */
export interface TaskResult {
  readonly state: string;
  readonly reason?: string | undefined;
  /** Protocol 1.0 JSON. */
  readonly artifacts: readonly unknown[];
  /** When the state began, ISO-8601; default: the end of the run. */
  readonly at?: string | undefined;
}

export interface TaskFinalization {
  /** The task row that the result was derived from. */
  readonly row: {
    readonly task_id: string;
    readonly thread_id: string;
    readonly run_id: string;
    readonly state: string | null;
  };
  readonly result: TaskResult;
  /** Runs whose event artifacts are included. */
  readonly collected_runs?: readonly string[];
  /** Body of the push notification; `undefined` sends none. */
  readonly notification: NotificationBody | undefined;
}

export const ARTIFACTS_COLUMN = 'a2a_tasks.artifacts';
export const REASON_COLUMN = 'a2a_tasks.reason';

/**
 * Stores the result and enqueues push notifications in the outbox, in one transaction. Returns `false` if the task has
 * changed since it was read. Updates the row first, whose lock orders it against new subscribers.
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
      sql`update a2a_turns set is_stored = 1 where task_id = ${task_id} and ${isOneOf('run_id', collected_runs)}`,
    );
  }
  if (notification) await notifySubscribers(tx, row, notification);
  return true;
}

import { toJson } from '../../core/json.ts';
import type { Transaction } from '../../db/db.ts';
import { isOneOf } from '../../db/json.ts';
import { sql } from '../../db/sql.ts';
import { type Tell, tellSubscribers } from './push-configs.ts';

/** What became of a task when its run had ended. */
export interface SettledTask {
  readonly state: string;
  readonly reason?: string | undefined;
  /** As JSON of protocol 1.0. */
  readonly artifacts: readonly unknown[];
  /** Since when, ISO-8601, where it is not the end of the run. */
  readonly at?: string | undefined;
}

export interface Settlement {
  /** The task as it was when this was found out. */
  readonly row: {
    readonly task_id: string;
    readonly thread_id: string;
    readonly run_id: string;
    readonly state: string;
    readonly is_settled: boolean;
  };
  readonly end: SettledTask;
  /** Runs whose events are among the artifacts now. */
  readonly kept_runs?: readonly string[];
  /** What its subscribers are told; undefined: nothing. */
  readonly tell: Tell | undefined;
}

export const ARTIFACTS = 'a2a_tasks.artifacts';
export const REASON = 'a2a_tasks.reason';

/**
 * Keeps what became of a task and puts what its subscribers are told into the outbox: one commit. False when it went on,
 * or was settled by somebody else, meanwhile. Its row is locked first: a subscriber comes before this, or sees it.
 */
export async function settleTask(tx: Transaction, settlement: Settlement): Promise<boolean> {
  const { row, end, kept_runs = [], tell } = settlement;
  const { task_id, run_id } = row;
  const unchanged = row.is_settled ? sql`state = ${row.state}` : sql`state is null`;
  const reason = end.reason === undefined ? null : tx.cipher.sealText(REASON, end.reason);
  const artifacts = tx.cipher.sealJson(ARTIFACTS, toJson(end.artifacts));
  const settled = await tx.run(sql`
    update a2a_tasks set state = ${end.state}, reason = ${reason}, state_at = ${end.at ?? null},
      artifacts = ${artifacts}
    where task_id = ${task_id} and run_id = ${run_id} and ${unchanged}`);
  if (settled === 0) return false;
  if (kept_runs.length > 0) {
    await tx.run(
      sql`update a2a_turns set is_kept = 1 where task_id = ${task_id} and ${isOneOf('run_id', kept_runs)}`,
    );
  }
  if (tell) await tellSubscribers(tx, row, tell);
  return true;
}

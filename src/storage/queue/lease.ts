import type { Transaction } from '../db.ts';
import { type DialectSql, raw, type Sql, sql } from '../sql.ts';

/** The right to execute one attempt of a run: every write of the attempt is conditional on it (invariant 2). */
export interface Lease {
  readonly run_id: string;
  readonly thread_id: string;
  /** Fresh for each claim; a claim by somebody else replaces it. */
  readonly token: string;
  /** 1 for the first. */
  readonly attempt: number;
}

/**
 * True inside the attempt's own transaction while it may write. A rolled-back run may not: its checkpoints are already
 * removed, and one that came late would bring its state back.
 */
export function holdsLease(lease: Lease): Sql {
  return sql`exists (select 1 from run_queue where run_id = ${lease.run_id} and lease_token = ${lease.token}
    and (cancel_action is null or cancel_action <> 'rollback'))`;
}

/** Nobody else changes the row before this transaction ends. SQLite has one writer at a time anyway. */
const KEPT: DialectSql = { sqlite: raw(''), postgres: raw('for no key update') };

/**
 * `holdsLease` as a statement of its own, for a transaction of several: what it found stays true to the end of the
 * transaction, also on PostgreSQL, where a claim could else come in between.
 */
export async function keepLease(tx: Transaction, lease: Lease): Promise<boolean> {
  const row =
    await tx.get(sql`select 1 from run_queue where run_id = ${lease.run_id} and lease_token = ${lease.token}
    and (cancel_action is null or cancel_action <> 'rollback') ${KEPT}`);
  return row !== undefined;
}

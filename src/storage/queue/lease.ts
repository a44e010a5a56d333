import type { Transaction } from '../db.ts';
import { type DialectSql, raw, sql } from '../sql.ts';

/** The right to execute one attempt of a run: every write of the attempt is conditional on it (invariant 2). */
export interface Lease {
  readonly run_id: string;
  readonly thread_id: string;
  /** Fresh for each claim; a claim by somebody else replaces it. */
  readonly token: string;
  /** 1 for the first. */
  readonly attempt: number;
}

/** Nobody else changes the row before this transaction ends. SQLite has one writer at a time anyway. */
const KEPT: DialectSql = { sqlite: raw(''), postgres: raw('for no key update') };

/**
 * True when the attempt may write, and until its transaction ends: without the lock, another claim on PostgreSQL could
 * come between the question and the write. A rolled-back run may not write: its checkpoints are already removed, and
 * one that came late would bring its state back.
 */
export async function keepLease(tx: Transaction, lease: Lease): Promise<boolean> {
  const kept = await tx.get(sql`
    select 1 from run_queue where run_id = ${lease.run_id} and lease_token = ${lease.token}
      and (cancel_action is null or cancel_action <> 'rollback') ${KEPT}`);
  return kept !== undefined;
}

import { type Sql, sql } from '../sql.ts';

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

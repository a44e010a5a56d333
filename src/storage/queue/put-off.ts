import type { Run } from '../../schemas/runs.ts';
import type { Transaction } from '../db.ts';
import { Unreadable } from '../encryption/cipher.ts';
import { runOf } from '../run-row.ts';
import { list, sql } from '../sql.ts';
import { nowPlus } from '../time.ts';
import type { RetryReason } from './standing.ts';

/** Here `attempt` counts every start, also those that the queue did not charge. */
export type Started = Run & { attempt: number };

/** A server that can read it may take it sooner; one that cannot would look for nothing else. */
const PUT_OFF_MS = 30_000;

/** The runs that can be read; the ids of the others, which a key is missing for, or which were changed. */
export function readable(tx: Transaction, rows: readonly Started[]): { runs: Started[]; sealed: string[] } {
  const runs: Started[] = [];
  const sealed: string[] = [];
  for (const row of rows) {
    try {
      runs.push(runOf(tx.cipher, row));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      sealed.push(row.run_id);
    }
  }
  return { runs, sealed };
}

/** Gives runs back that were just claimed, as if nobody had. */
export async function putOff(tx: Transaction, run_ids: readonly string[]): Promise<void> {
  if (run_ids.length === 0) return;
  await tx.run(sql`
    update run_queue set state = 'ready', lease_token = null, worker_id = null, attempt = attempt - 1,
      not_before = ${nowPlus(PUT_OFF_MS)}, retry_reason = ${'unreadable' satisfies RetryReason}
    where run_id in ${list(run_ids)}`);
  await tx.run(sql`
    update runs set status = 'pending', attempt = attempt - 1,
      started_at = case when attempt = 1 then null else started_at end
    where run_id in ${list(run_ids)}`);
}

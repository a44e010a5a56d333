import type { QueueFigures } from '../../schemas/system.ts';
import type { Db } from '../db.ts';
import { type DialectSql, sql } from '../sql.ts';

/** Seconds that a run has been due. */
const WAITED: DialectSql = {
  sqlite: sql`(julianday('now') - julianday(not_before)) * 86400.0`,
  postgres: sql`extract(epoch from clock_timestamp() - not_before)::float8`,
};

type Waiting = { state: string; waited: number };

/** How much waits and executes, and for how long what is due has waited (CONTRACT §2.9 `/metrics`). */
export async function queueFigures(db: Db): Promise<QueueFigures> {
  const rows = await db.all<Waiting>(sql`select state, ${WAITED} as waited from run_queue`);
  const pending = rows.filter((row) => row.state !== 'running');
  const due = pending.filter((row) => row.waited >= 0).map((row) => row.waited);
  const unblocked = pending
    .filter((row) => row.state === 'ready' && row.waited >= 0)
    .map((row) => row.waited);
  return {
    n_pending: pending.length,
    n_running: rows.length - pending.length,
    pending_runs_wait_time_max_secs: due.length > 0 ? Math.max(...due) : null,
    pending_runs_wait_time_med_secs: median(due),
    pending_unblocked_runs_wait_time_max_secs: unblocked.length > 0 ? Math.max(...unblocked) : null,
  };
}

function median(values: number[]): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

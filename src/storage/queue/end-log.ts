import type { RunStatus } from '../../schemas/runs.ts';
import type { Transaction } from '../db.ts';
import { EVENT_DATA } from '../run-events.ts';
import { raw, sql } from '../sql.ts';
import { nowPlus } from '../time.ts';

/** The name of a log's last entry; it marks the end and is never sent. Its data is an `Ending`. */
export const END_EVENT = '__end__';

/** How a run ended, for who follows it from afar. */
export interface Ending {
  readonly status: RunStatus | 'rollback';
  /** Its thread waits: at an interrupt, or before or after a node. */
  readonly waits?: true;
  /** What went wrong. */
  readonly error?: string;
}

/** Closes the log of a run after whatever it holds, and says when it may be dropped. */
export async function endLog(
  tx: Transaction,
  run_id: string,
  ending: Ending,
  keep_ms: number,
): Promise<void> {
  const data = tx.cipher.sealText(EVENT_DATA, JSON.stringify(ending));
  await tx.run(sql`
    insert into run_events (run_id, seq, event, data)
    select ${run_id}${castUuid(tx)}, coalesce(max(seq), 0) + 1, ${END_EVENT}, ${data}
    from run_events where run_id = ${run_id}`);
  await expireLog(tx, run_id, keep_ms);
}

/** The log may be dropped `keep_ms` from now; a later call moves the date. */
export async function expireLog(tx: Transaction, run_id: string, keep_ms: number): Promise<void> {
  await tx.run(sql`
    insert into run_event_expiry (run_id, expires_at) values (${run_id}, ${nowPlus(keep_ms)})
    on conflict (run_id) do update set expires_at = excluded.expires_at`);
}

/** In a select list PostgreSQL cannot infer a parameter's type from the column it goes to. */
function castUuid(tx: Transaction) {
  return raw(tx.dialect === 'postgres' ? '::uuid' : '');
}

import { columns, notNull, nullable } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { type RowOf, raw, type Sql, sql } from '../../db/sql.ts';
import { isDead } from '../processes.ts';
import { IS_CLAIMED } from '../webhooks/claimed.ts';

const WORKER = notNull(columns('run_queue', 'worker_id, seq'));
/** What a worker held: a run, or without a run and thread a delivery. */
const HELD = sql`${nullable(columns('run_queue', 'run_id, thread_id'))}, ${WORKER}`;

export interface ExpiredLease extends RowOf<typeof WORKER> {
  readonly run_id: string;
  readonly thread_id: string;
}

/** What dead workers held: runs, and the ids of those who claimed deliveries. One statement for both. */
export async function lostWork(db: Reader, reaper_id: string) {
  const rows = await db.all(heldByDead(reaper_id));
  const expired: ExpiredLease[] = [];
  const senders = new Set<string>();
  for (const { run_id, thread_id, ...lease } of rows)
    if (run_id === null || thread_id === null) senders.add(lease.worker_id);
    else expired.push({ run_id, thread_id, ...lease });
  return { expired, senders: [...senders] };
}

/** One row if `lostWork` would find any. */
export function anyLostWork(reaper_id: string): Sql {
  return sql`select 1 from (${heldByDead(reaper_id)}) as lost limit 1`;
}

function heldByDead(reaper_id: string) {
  const isLost = (holder: Sql) => sql`${holder} <> ${reaper_id} and ${isDead(holder)}`;
  return sql`
    select ${HELD} from (
      select run_id, thread_id, worker_id, seq from run_queue q where state = 'running' and ${isLost(raw('q.worker_id'))}
      limit 1000) as runs
    union all
    select null, null, worker_id, seq from webhook_outbox o where ${IS_CLAIMED} and ${isLost(raw('o.worker_id'))}`;
}

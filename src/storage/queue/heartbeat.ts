import type { Db } from '../../db/db.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { NOW, nowPlus } from '../../db/time.ts';
import { anyLostWork } from './lost-work.ts';
import type { Worker } from './workers.ts';

/** Heartbeat: renews the worker's lease for `lease_ms`, by the database's clock. One row per process, not per run. */
export async function heartbeat(db: Db, worker: Worker, lease_ms: number): Promise<void> {
  await db.run(renewal(worker, lease_ms), 'async');
}

/**
 * Heartbeat on PostgreSQL that resolves to whether dead processes hold runs or deliveries. It is one transaction and one
 * round trip: processes do both as often. If the search fails, the lease is not renewed either.
 */
export async function heartbeatAndSearch(db: Db, worker: Worker, lease_ms: number): Promise<boolean> {
  const found = await db.transaction('async', async (tx) => {
    tx.defer(renewal(worker, lease_ms));
    return tx.defer(anyLostWork(worker.worker_id));
  });
  return found.changes > 0;
}

function renewal(worker: Worker, lease_ms: number): Sql {
  return sql`insert into workers (worker_id, host, pid, version, slots, graph_ids, started_at, expires_at)
    values (${worker.worker_id}, ${worker.host}, ${worker.pid}, ${worker.version}, ${worker.slots},
      ${JSON.stringify(worker.graph_ids ?? [])}, ${NOW}, ${nowPlus(lease_ms)})
    on conflict (worker_id) do update set expires_at = excluded.expires_at, slots = excluded.slots`;
}

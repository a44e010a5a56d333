import type { CancelAction } from '../../schemas/runs.ts';
import type { Db } from '../db.ts';
import { sql } from '../sql.ts';
import { NOW, nowPlus } from '../time.ts';

/** A process that executes runs, as the others see it. */
export interface Worker {
  readonly worker_id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** Runs at once. */
  readonly slots: number;
}

/** Says that the worker lives, for `lease_ms` from now by the database's time: one row a process, not one a run. */
export async function heartbeat(db: Db, worker: Worker, lease_ms: number): Promise<void> {
  await db.run(
    sql`insert into workers (worker_id, host, pid, version, slots, started_at, expires_at)
      values (${worker.worker_id}, ${worker.host}, ${worker.pid}, ${worker.version}, ${worker.slots}, ${NOW},
        ${nowPlus(lease_ms)})
      on conflict (worker_id) do update set expires_at = excluded.expires_at`,
    'relaxed',
  );
}

/** The worker is gone and says so: nobody has to wait for its lease to end. */
export async function leave(db: Db, worker_id: string): Promise<void> {
  await db.run(sql`delete from workers where worker_id = ${worker_id}`);
}

/** At the start of the only process on a database every worker on record is dead, whatever its lease says. */
export async function forgetWorkers(db: Db): Promise<void> {
  await db.run(sql`delete from workers`);
}

/** Runs of this worker that were cancelled: what a lost control message would have said. */
export function cancelledRuns(
  db: Db,
  worker_id: string,
): Promise<{ run_id: string; cancel_action: CancelAction }[]> {
  return db.all(sql`select run_id, cancel_action from run_queue
    where worker_id = ${worker_id} and state = 'running' and cancel_action is not null`);
}

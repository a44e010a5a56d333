import { columns, notNull, nullable, number } from '../../db/columns.ts';
import type { Db, Reader } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import type { CancelAction } from '../../schemas/runs.ts';
import type { RunError } from '../../schemas/threads.ts';
import { RUN_ERROR_COLUMN } from '../runs/runs.ts';

/** A process that executes runs, as other processes see it. */
export interface Worker {
  readonly worker_id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** Concurrent runs, as of its last heartbeat. */
  readonly slots: number;
  /** Graphs that it serves. */
  readonly graph_ids?: readonly string[];
}

/** Clean shutdown: deletes the worker, so that no other process has to wait for its lease to expire. */
export async function deregister(db: Db, worker_id: string): Promise<void> {
  await db.run(sql`delete from workers where worker_id = ${worker_id}`);
}

/** Whether no other live process could take its runs. */
export async function isOnlyWorker(db: Db, worker_id: string): Promise<boolean> {
  const other = await db.get(sql`
    select 1 from workers where worker_id <> ${worker_id} and slots > 0 and expires_at > ${NOW} limit 1`);
  return other === undefined;
}

/** How many processes are alive: their leases have not expired. */
export async function liveWorkers(db: Reader): Promise<number> {
  const row = await db.get(sql`select count(*) as ${number('live')} from workers where expires_at > ${NOW}`);
  return row?.live ?? 0;
}

/** For the only process on a database, at startup: every recorded worker is dead, even if its lease has not expired. */
export async function deleteAllWorkers(db: Db): Promise<void> {
  await db.run(sql`delete from workers`);
}

/** A lease as stored. */
export interface HeldLease {
  readonly run_id: string;
  readonly thread_id: string;
  readonly token: string;
  readonly cancel_action: CancelAction | null;
  /** Why it was cancelled; null if it was not, and after a rollback, which deletes the run. */
  readonly error: RunError | null;
}

const LEASE = columns('run_queue', 'q.run_id, q.thread_id, q.cancel_action');
/** Every running run has one. */
const TOKEN = notNull(columns('run_queue', 'q.lease_token as token'));

/** The leases that a worker holds: a missing one is lost, one with a cancel must be released. */
export async function heldLeases(db: Db, worker_id: string): Promise<HeldLease[]> {
  const rows = await db.all(sql`
    select ${LEASE}, ${TOKEN}, ${nullable(columns('runs', 'r.error'))}
    from run_queue q left join runs r on r.run_id = q.run_id
    where q.worker_id = ${worker_id} and q.state = 'running'`);
  return rows.map((row) => decryptJsonColumns(db.cipher, row, { error: RUN_ERROR_COLUMN }));
}

import type { Rows } from '../../db/column-types.ts';
import { columns, nullable, number } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import type { CancelAction } from '../../schemas/runs.ts';
import type { RunError } from '../../schemas/threads.ts';
import { RUN_ERROR_COLUMN } from '../runs/runs.ts';
import type { QueueRow } from '../runs/thread-lock.ts';
import type { QueueContext } from './context.ts';

/** Why a run that was started is no longer running, or not under its first lease. */
export type RetryReason = NonNullable<Rows['run_queue']['retry_reason']>;

/** A run's position in the queue. */
export interface QueuePosition {
  readonly state: QueueRow['state'];
  /** Earliest start, ISO-8601. */
  readonly not_before: string;
  readonly priority: number;
  /** Number of starts, without refunded ones. */
  readonly attempt: number;
  /** Consecutive attempts lost without progress. */
  readonly failures: number;
  readonly cancel_action: CancelAction | null;
  readonly retry_reason: RetryReason | null;
  readonly worker_id: string | null;
  /** Host of the worker; null if the worker is gone. */
  readonly host: string | null;
  readonly pid: number | null;
  readonly lease_until: string | null;
  /** Runs of the thread that go first, in the order in which they are promoted. */
  readonly behind: string[];
}

const POSITION = columns(
  'run_queue',
  `q.thread_id, q.state, q.not_before, q.priority, q.attempt, q.failures, q.cancel_action, q.retry_reason,
  q.worker_id`,
);
const WORKER = nullable(columns('workers', 'w.host, w.pid, w.expires_at as lease_until'));

/** Returns `undefined` if the run is not in flight. */
export async function queuePosition(reader: Reader, run_id: string): Promise<QueuePosition | undefined> {
  const row = await reader.get(sql`
    select ${POSITION}, ${WORKER}
    from run_queue q left join workers w on w.worker_id = q.worker_id where q.run_id = ${run_id}`);
  if (!row) return undefined;
  const { thread_id, ...position } = row;
  const others = await reader.all(sql`
    select ${columns('run_queue', 'run_id')} from run_queue where thread_id = ${thread_id} and run_id <> ${run_id}
      and (state in ('ready', 'running') or state = 'blocked'
        and (not_before, seq) < (select not_before, seq from run_queue where run_id = ${run_id}))
    order by case when state in ('ready', 'running') then 0 else 1 end, not_before, seq`);
  const isHead = row.state === 'ready' || row.state === 'running';
  return { ...position, behind: isHead ? [] : others.map((other) => other.run_id) };
}

/** When a run started and ended, its error, and who executed its last attempt. */
export interface RunTimes {
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly error: RunError | null;
  /** Null if it is not known, and outside of deployments. */
  readonly executor_id: string | null;
}

export async function runTimes(reader: Reader, run_id: string): Promise<RunTimes | undefined> {
  const row = await reader.get(
    sql`select ${columns('runs', 'started_at, ended_at, error, executor_id')} from runs where run_id = ${run_id}`,
  );
  return row && decryptJsonColumns(reader.cipher, row, { error: RUN_ERROR_COLUMN });
}

/** Running runs of the owner of a run, and how many there may be; `undefined` without an owner or a limit. */
export async function ownerShare(
  { db, fairness: { max_per_owner: limit } }: Pick<QueueContext, 'db' | 'fairness'>,
  run_id: string,
): Promise<{ running: number; limit: number } | undefined> {
  if (limit === undefined) return undefined;
  const row = await db.get(sql`
    select (select count(*) from run_queue r where r.state = 'running' and r.owner = q.owner) as ${number('running')}
    from run_queue q where q.run_id = ${run_id} and q.owner is not null`);
  return row && { ...row, limit };
}

/** Live workers, and how many runs they can execute concurrently. */
export async function workerCapacity(
  reader: Reader,
): Promise<{ workers: number; slots: number; running: number }> {
  const row = await reader.get(sql`
    select count(*) as ${number('workers')}, coalesce(sum(slots), 0) as ${number('slots')},
      (select count(*) from run_queue where state = 'running') as ${number('running')}
    from workers where expires_at > ${NOW}`);
  return row ?? { workers: 0, slots: 0, running: 0 };
}

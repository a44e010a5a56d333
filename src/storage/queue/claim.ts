import type { Run } from '../../schemas/runs.ts';
import type { Db, Transaction } from '../db.ts';
import { type DialectSql, list, raw, sql } from '../sql.ts';
import { openThreadLog } from '../thread-log.ts';
import { NOW } from '../time.ts';
import type { Lease } from './lease.ts';
import { putOff, readable, type Started } from './put-off.ts';

export interface Claim {
  readonly worker_id: string;
  /** Fresh for each claim; fences every write of the attempts that it starts. */
  readonly token: string;
  /** At most this many runs. */
  readonly limit: number;
}

export interface ClaimedRun {
  readonly lease: Lease;
  readonly run: Run;
  /** The last number in the run's event log; 0 when it is empty. */
  readonly last_seq: number;
  /** An earlier attempt left a checkpoint of this run: its input is applied already (invariant 4). */
  readonly has_checkpoint: boolean;
}

type Taken = { run_id: string; thread_id: string; attempt: number };

/** Rows that another worker is taking right now are passed over; SQLite has one writer and no such words. */
const SKIP_LOCKED: DialectSql = { sqlite: raw(''), postgres: raw('for update skip locked') };

/**
 * Takes due runs in order. No two of one thread can be among them: the head of a thread is unique.
 * A claim that a power cut takes back leaves the run `ready`, so it need not be promised.
 */
export function claim(db: Db, { worker_id, token, limit }: Claim): Promise<ClaimedRun[]> {
  return db.transaction('relaxed', async (tx) => {
    const taken = await tx.all<Taken>(sql`
      update run_queue set state = 'running', lease_token = ${token}, worker_id = ${worker_id}, attempt = attempt + 1
      where seq in (
        select seq from run_queue where state = 'ready' and not_before <= ${NOW}
        order by not_before, seq limit ${limit} ${SKIP_LOCKED}
      ) returning run_id, thread_id, attempt`);
    if (taken.length === 0) return [];
    const { runs: started, sealed } = readable(tx, await start(tx, taken));
    await putOff(tx, sealed);
    const first = started.filter((run) => run.attempt === 1 && run.kwargs['temporary'] !== true);
    await openThreadLog(
      tx,
      first.map((run) => run.run_id),
    );
    const runs = new Map(started.map((run) => [run.run_id, run]));
    await dropStrays(tx, taken, [...runs.keys(), ...sealed]);
    const found = taken.filter((row) => runs.has(row.run_id));
    return Promise.all(found.map((row) => claimed(tx, row, token, runs.get(row.run_id) as Started)));
  });
}

function start(tx: Transaction, taken: Taken[]): Promise<Started[]> {
  return tx.all<Started>(sql`
    update runs set status = 'running', started_at = coalesce(started_at, ${NOW}), updated_at = ${NOW},
      attempt = attempt + 1
    where run_id in ${list(taken.map((row) => row.run_id))}
    returning run_id, thread_id, assistant_id, status, metadata, kwargs, multitask_strategy, created_at, updated_at,
      attempt`);
}

/** A place in the queue whose run is gone must not keep the others waiting: nothing will ever come of it. */
async function dropStrays(tx: Transaction, taken: Taken[], found: readonly string[]): Promise<void> {
  const strays = taken.filter((row) => !found.includes(row.run_id)).map((row) => row.run_id);
  if (strays.length > 0) await tx.run(sql`delete from run_queue where run_id in ${list(strays)}`);
}

async function claimed(tx: Transaction, row: Taken, token: string, started: Started): Promise<ClaimedRun> {
  const { attempt: starts, ...run } = started;
  const lease = { run_id: row.run_id, thread_id: row.thread_id, token, attempt: row.attempt };
  if (starts === 1) return { lease, run, last_seq: 0, has_checkpoint: false };
  const log = await tx.get<{ last: number | null }>(
    sql`select max(seq) as last from run_events where run_id = ${row.run_id}`,
  );
  // Its own, not a subgraph's: a subgraph's first checkpoint does not say that the run's input is applied.
  const checkpoint = await tx.get(
    sql`select 1 from checkpoints where run_id = ${row.run_id} and ns = '' limit 1`,
  );
  return { lease, run, last_seq: log?.last ?? 0, has_checkpoint: checkpoint !== undefined };
}

import { toJson } from '../../core/json.ts';
import { columns, flag, number, text } from '../../db/columns.ts';
import type { Db, Transaction } from '../../db/db.ts';
import { type DialectSql, sql } from '../../db/sql.ts';
import type { ActiveAttempts } from './active-attempts.ts';

/** Position of the end of a run's log, and whether more may follow. */
export interface RunLogEnd {
  readonly run_id: string;
  /** Number of the newest frame; 0 if there is none. */
  readonly last: number;
  readonly in_flight: 0 | 1;
}

/** Position of the end of a thread's log. */
export interface ThreadLogEnd {
  readonly thread_id: string;
  readonly last: number;
}

/** Ids per statement: SQLite blocks the event loop meanwhile. */
const BATCH = 500;

export type LogEnds = ReturnType<typeof logEnds>;

/** Log ends for many stream readers in one batch: whether there is more to read. */
export function logEnds(db: Db) {
  async function inBatches<Row>(
    ids: readonly string[],
    query: (rows: DialectSql) => Promise<Row[]>,
  ): Promise<Row[]> {
    const found: Row[] = [];
    for (let start = 0; start < ids.length; start += BATCH) {
      found.push(...(await query(idRows(ids.slice(start, start + BATCH)))));
    }
    return found;
  }

  return {
    ofRuns: (run_ids: readonly string[]): Promise<RunLogEnd[]> =>
      inBatches(run_ids, (rows) =>
        db.all(sql`
          select id as ${text('run_id')},
            coalesce((select max(seq) from run_events e where e.run_id = id), 0) as ${number('last')},
            exists (select 1 from run_queue q where q.run_id = id) as ${flag('in_flight')}
          from ${rows}`),
      ),

    ofThreads: (thread_ids: readonly string[]): Promise<ThreadLogEnd[]> =>
      inBatches(thread_ids, (rows) =>
        db.all(sql`
          select id as ${text('thread_id')}, coalesce((
            select l.base + coalesce(l.length, (select max(seq) from run_events e where e.run_id = l.run_id), 0)
            from thread_log l where l.thread_id = id order by l.base desc limit 1), 0) as ${number('last')}
          from ${rows}`),
      ),
  };
}

/** The ids as rows of `id`. */
function idRows(ids: readonly string[]): DialectSql {
  return {
    sqlite: sql`(select value as id from json_each(${toJson(ids)})) asked`,
    postgres: sql`unnest(${`{${ids.join(',')}}`}::uuid[]) as asked (id)`,
  };
}

/** A checkpoint of the run's graph; the frames up to `seq` report everything in it. */
export interface RunCheckpoint {
  readonly run_id: string;
  readonly checkpoint_id: string;
  readonly seq: number;
}

export type RunCheckpointRepository = ReturnType<typeof runCheckpointRepository>;

/** Positions of the checkpoints of resumable runs in their event logs. */
export function runCheckpointRepository(db: Db, active?: ActiveAttempts) {
  return {
    /** Number of the last frame before the checkpoint; `undefined` if the run has no such checkpoint. */
    async seqOf(thread_id: string, run_id: string, checkpoint_id: string): Promise<number | undefined> {
      await active?.whenFlushed(thread_id);
      const row = await db.get(sql`
        select ${columns('run_checkpoints', 'seq')} from run_checkpoints
        where run_id = ${run_id} and checkpoint_id = ${checkpoint_id}`);
      return row?.seq;
    },
  };
}

/** Part of a transaction that has checked the lease. */
export function insertRunCheckpoint(tx: Transaction, checkpoint: RunCheckpoint): void {
  const { run_id, checkpoint_id, seq } = checkpoint;
  tx.defer(sql`
    insert into run_checkpoints (run_id, checkpoint_id, seq) values (${run_id}, ${checkpoint_id}, ${seq})
    on conflict (run_id, checkpoint_id) do nothing`);
}

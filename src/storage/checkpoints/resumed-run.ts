import { columns } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';

/** Where a run resumes a thread. */
export interface ResumePlace {
  readonly thread_id: string;
  readonly run_id: string;
  readonly ns: string;
  /** The newest one if undefined. */
  readonly checkpoint_id: string | undefined;
}

/**
 * The run that another one resumes: the newest that asked at the checkpoint, else the one that made it. A run that asks
 * anew without a checkpoint of its own asks at the one that it resumed. `undefined` if no run of the thread did.
 */
export async function findResumedRun(
  reader: Reader,
  { thread_id, run_id, ns, checkpoint_id }: ResumePlace,
): Promise<string | undefined> {
  const at = checkpoint_id === undefined ? sql`` : sql`and checkpoint_id = ${checkpoint_id}`;
  const row = await reader.get(sql`
    with start as (
      select checkpoint_id, run_id from checkpoints where thread_id = ${thread_id} and ns = ${ns} ${at}
      order by checkpoint_id desc limit 1
    ), stopped as (
      select w.run_id, 1 as has_asked from checkpoint_writes w join start on start.checkpoint_id = w.checkpoint_id
      where w.thread_id = ${thread_id} and w.ns = ${ns} and w.channel = '__interrupt__'
        and w.superseded_by in ('', ${run_id})
      union all select run_id, 0 from start
    )
    select ${columns('runs', 'runs.run_id')} from runs join stopped on stopped.run_id = runs.run_id
    where runs.thread_id = ${thread_id} and runs.run_id <> ${run_id}
    order by stopped.has_asked desc, runs.created_at desc, runs.run_id desc limit 1`);
  return row?.run_id;
}

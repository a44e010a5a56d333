import { columns, flag, nullable, text } from '../../db/columns.ts';
import type { Db, Transaction } from '../../db/db.ts';
import { forEachRow } from '../../db/rows.ts';
import { list, type Sql, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import { withThread } from '../runs/thread-lock.ts';
import type { QueueContext } from './context.ts';

/** Part of every end of a run, under the lock of its thread: it is no longer in the queue. */
export function dequeue(tx: Transaction, run_id: string): void {
  tx.defer(sql`delete from run_queue where run_id = ${run_id}`);
}

/**
 * Part of a transaction that holds the thread lock: if the thread has no head, its first run that is due becomes
 * `ready`, by due time and then creation (invariant 1). A blocked run was due once, and stays so if the clock is set
 * back: claims take no run before its time. Returns true if one did; the caller then wakes a worker.
 */
export async function promote(tx: Transaction, thread_id: string): Promise<boolean> {
  return (await tx.run(promotion(thread_id))) > 0;
}

/** The statement of `promote`, which changes one row at most. */
export function promotion(thread_id: string): Sql {
  return sql`
    update run_queue set state = 'ready', not_before = case when not_before > ${NOW} then ${NOW} else not_before end
    where seq = (
      select seq from run_queue
      where thread_id = ${thread_id} and (state = 'blocked' or state = 'scheduled' and not_before <= ${NOW})
      order by not_before, seq limit 1
    ) and not exists (
      select 1 from run_queue where thread_id = ${thread_id} and state in ('ready', 'running')
    )`;
}

/** Runs per query. */
const PAGE = 200;

/**
 * Promotes due runs: `ready` where the thread is free, `blocked` behind its head otherwise, so that each is examined
 * only once. A failing thread is reported and does not block the others. Returns true if a run became ready.
 */
export async function promoteDue({ db, report }: QueueContext): Promise<boolean> {
  let promoted = false;
  const failed = new Set<string>();
  for (;;) {
    const page = await threadsWithDueRuns(db, [...failed]);
    await forEachRow(
      page,
      async (thread_id) => {
        promoted = (await promoteThread(db, thread_id)) || promoted;
      },
      (thread_id, error) => {
        failed.add(thread_id);
        report({ what: 'run cannot be promoted', thread_id, error });
      },
    );
    if (page.length === 0) return promoted;
  }
}

/** Threads of the longest overdue runs, without those that have just failed. */
async function threadsWithDueRuns(db: Db, without: readonly string[]): Promise<string[]> {
  const others = without.length === 0 ? sql`true` : sql`thread_id not in ${list(without)}`;
  const rows = await db.all(sql`
    select distinct ${columns('run_queue', 'thread_id')} from (
      select thread_id from run_queue where state = 'scheduled' and not_before <= ${NOW} and ${others}
      order by not_before limit ${PAGE}) due`);
  return rows.map(({ thread_id }) => thread_id);
}

function promoteThread(db: Db, thread_id: string): Promise<boolean> {
  return withThread(db, 'sync', thread_id, async (tx) => {
    await tx.run(sql`update run_queue set state = 'blocked'
      where thread_id = ${thread_id} and state = 'scheduled' and not_before <= ${NOW}`);
    return promote(tx, thread_id);
  });
}

export interface DueTimes {
  /** Whether `promoteDue` may find a run. */
  readonly is_overdue: boolean;
  /** The next waiting run; `undefined` if none waits for a future time. */
  readonly next: NextDue | undefined;
}

export interface NextDue {
  /** ISO-8601. */
  readonly due_at: string;
  /** Until then, ms, by the clock of the database, which decides what is due. */
  readonly in_ms: number;
}

/** Three index lookups in one statement: idle processes do little else. */
export async function nextDue(db: Db): Promise<DueTimes> {
  const first = (state: 'scheduled' | 'ready') => sql`(
    select not_before from run_queue where state = ${state === 'ready' ? sql`'ready'` : sql`'scheduled'`}
    and not_before > ${NOW} order by not_before limit 1)`;
  const row = await db.get(sql`
    select ${first('scheduled')} as ${nullable(text('scheduled'))},
      ${first('ready')} as ${nullable(text('ready'))}, ${NOW} as ${text('now')},
      coalesce((select not_before from run_queue where state = 'scheduled' order by not_before limit 1) <= ${NOW}, false)
        as ${flag('is_overdue')}`);
  const is_overdue = row?.is_overdue === 1;
  const times = [row?.scheduled, row?.ready].filter((time) => typeof time === 'string');
  const [due_at] = times.toSorted();
  if (!row || due_at === undefined) return { is_overdue, next: undefined };
  return { is_overdue, next: { due_at, in_ms: Date.parse(due_at) - Date.parse(row.now) } };
}

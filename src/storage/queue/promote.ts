import type { Db, Transaction } from '../../db/db.ts';
import { forEachRow } from '../../db/rows.ts';
import { list, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import { withThread } from '../runs/thread-lock.ts';
import type { QueueContext } from './context.ts';

/**
 * Part of a transaction that has locked the thread: when the thread has no head, its first due run becomes `ready`: due
 * time first, then creation (invariant 1). True when one did, and a worker should be woken.
 */
export async function promote(tx: Transaction, thread_id: string): Promise<boolean> {
  const changed = await tx.run(sql`
    update run_queue set state = 'ready'
    where seq = (
      select seq from run_queue
      where thread_id = ${thread_id} and state in ('scheduled', 'parked') and not_before <= ${NOW}
      order by not_before, seq limit 1
    ) and not exists (
      select 1 from run_queue where thread_id = ${thread_id} and state in ('ready', 'running')
    )`);
  return changed > 0;
}

/** Runs looked at together. */
const PAGE = 200;

/**
 * Runs whose time has come become `ready` where their thread is free, and wait behind its head where it is not: each is
 * looked at once. One that fails is reported and does not hold up the others. True when a run became ready.
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

/** Threads of the runs that have waited longest beyond their time, without those that failed just now. */
async function threadsWithDueRuns(db: Db, without: readonly string[]): Promise<string[]> {
  const others = without.length === 0 ? sql`true` : sql`thread_id not in ${list(without)}`;
  const rows = await db.all<{ thread_id: string }>(sql`
    select distinct thread_id from (
      select thread_id from run_queue where state = 'scheduled' and not_before <= ${NOW} and ${others}
      order by not_before limit ${PAGE}) due`);
  return rows.map(({ thread_id }) => thread_id);
}

function promoteThread(db: Db, thread_id: string): Promise<boolean> {
  return withThread(db, 'sync', thread_id, async (tx) => {
    await tx.run(sql`update run_queue set state = 'parked'
      where thread_id = ${thread_id} and state = 'scheduled' and not_before <= ${NOW}`);
    return promote(tx, thread_id);
  });
}

/** When the next waiting run is due, ISO-8601; undefined when none waits for a time to come. Two looks at an index. */
export async function nextDue(db: Db): Promise<string | undefined> {
  const first = (state: 'scheduled' | 'ready') => sql`(
    select not_before from run_queue where state = ${state === 'ready' ? sql`'ready'` : sql`'scheduled'`}
    and not_before > ${NOW} order by not_before limit 1)`;
  const row = await db.get<{ scheduled: string | null; ready: string | null }>(
    sql`select ${first('scheduled')} as scheduled, ${first('ready')} as ready`,
  );
  const times = [row?.scheduled, row?.ready].filter((time) => typeof time === 'string');
  return times.toSorted()[0];
}

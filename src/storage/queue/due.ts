import type { Db } from '../db.ts';
import { sql } from '../sql.ts';
import { NOW } from '../time.ts';
import { promote } from './promote.ts';
import { lockThread } from './thread-lock.ts';

/** Runs whose time has come become `ready` where their thread is free. True when one did. */
export async function promoteDue(db: Db): Promise<boolean> {
  const threads = await db.all<{ thread_id: string }>(sql`
    select distinct thread_id from run_queue q where state = 'scheduled' and not_before <= ${NOW}
    and not exists (
      select 1 from run_queue h where h.thread_id = q.thread_id and h.state in ('ready', 'running')
    ) limit 100`);
  let promoted = false;
  for (const { thread_id } of threads) {
    promoted =
      (await db.transaction('promised', async (tx) => {
        await lockThread(tx, thread_id);
        return promote(tx, thread_id);
      })) || promoted;
  }
  return promoted;
}

/** When the next waiting run is due, ISO-8601; undefined when none waits for a time to come. */
export async function nextDue(db: Db): Promise<string | undefined> {
  const row = await db.get<{ next: string | null }>(sql`
    select min(not_before) as next from run_queue
    where state in ('scheduled', 'ready') and not_before > ${NOW}`);
  return row?.next ?? undefined;
}

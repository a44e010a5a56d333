import type { Transaction } from '../db.ts';
import { sql } from '../sql.ts';
import { NOW } from '../time.ts';

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

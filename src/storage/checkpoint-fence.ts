import type { AttemptWrites, Write } from './attempt-writes.ts';
import type { Db, Durability, Transaction } from './db.ts';
import { isIdle, withThread } from './queue/locked-thread.ts';

/**
 * What allows checkpoints to be written: the lease of an attempt (invariant 2), or, for a change from outside of runs,
 * that no run of the thread is pending or running.
 */
export type Fence = { readonly attempt: AttemptWrites } | { readonly idle_thread_id: string };

/**
 * Writes under the fence. False when a thread that must be idle is not, or `also` says no, and nothing is written.
 * An attempt's writes are checked with their commit, which may come later; throws what an earlier one threw.
 */
export async function writeUnder(
  db: Db,
  fence: Fence,
  durability: Durability,
  write: Write,
  also: (tx: Transaction) => Promise<boolean> = async () => true,
): Promise<boolean> {
  if ('attempt' in fence) {
    await fence.attempt.add(write, durability);
    return true;
  }
  return withThread(db, durability, fence.idle_thread_id, async (tx, thread) => {
    if (!thread.exists || !(await isIdle(tx, thread)) || !(await also(tx))) return false;
    await write(tx);
    return true;
  });
}

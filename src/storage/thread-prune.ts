import { keepNewestCheckpoint } from './checkpoint-prune.ts';
import type { Db } from './db.ts';
import { isIdle, withThread } from './queue/locked-thread.ts';

/**
 * Forgets a thread's history but for its newest checkpoint. False, and nothing happens, while a run of the thread is in
 * flight: it may go on from any checkpoint. A thread that is gone has nothing left to forget.
 */
export function pruneThread(db: Db, thread_id: string): Promise<boolean> {
  return withThread(db, 'freeing', thread_id, async (tx, thread) => {
    if (!thread.exists) return true;
    if (!(await isIdle(tx, thread))) return false;
    await keepNewestCheckpoint(tx, thread_id);
    return true;
  });
}

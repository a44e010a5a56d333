import { bind } from '../../db/bind.ts';
import type { Db } from '../../db/db.ts';
import type { ActiveAttempts } from '../runs/active-attempts.ts';
import { deleteCheckpointsOfThread } from './delete.ts';
import { type CheckpointQuery, findAncestors, findCheckpoints, newestCheckpointId } from './find.ts';
import { type Fence, putCheckpoint, putWrites, writeFenced } from './put.ts';
import { findResumedRun } from './resumed-run.ts';
import { findTakenAnswers } from './taken-answers.ts';
import { findTree, type TreeQuery } from './tree.ts';

export type CheckpointRepository = ReturnType<typeof checkpointRepository>;

export function checkpointRepository(db: Db, active?: ActiveAttempts) {
  return {
    ...bind(db, {
      put: putCheckpoint,
      putWrites,
      ancestors: findAncestors,
      resumedRun: findResumedRun,
      takenAnswers: findTakenAnswers,
      newestId: newestCheckpointId,
    }),
    /** Read-your-writes: includes what an attempt in this process has published but not committed yet. */
    async find(query: CheckpointQuery) {
      await active?.whenFlushed(query.thread_id);
      return findCheckpoints(db, query);
    },
    /** Read-your-writes, as `find`. */
    async tree(query: TreeQuery) {
      await active?.whenFlushed(query.thread_id);
      return findTree(db, query);
    },
    deleteThread: (fence: Fence, thread_id: string) =>
      writeFenced(db, fence, 'sync', async (tx) => deleteCheckpointsOfThread(tx, thread_id)),
  };
}

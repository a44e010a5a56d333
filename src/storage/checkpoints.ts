import { type AncestorQuery, ancestors } from './checkpoint-ancestors.ts';
import { type Fence, writeUnder } from './checkpoint-fence.ts';
import { type CheckpointQuery, findCheckpoints } from './checkpoint-find.ts';
import { type NewCheckpoint, putCheckpoint } from './checkpoint-put.ts';
import { removeCheckpointsOfThread } from './checkpoint-remove.ts';
import { type NewWrites, putWrites } from './checkpoint-writes.ts';
import type { Db, Durability } from './db.ts';

export type CheckpointRepository = ReturnType<typeof checkpointRepository>;

/**
 * What graphs remember of each step: checkpoints, the values of their channels, and the writes of tasks that wait to
 * be applied. Writers say what allows them to write; false means that it does not, and nothing is written.
 */
export function checkpointRepository(db: Db) {
  return {
    put: (fence: Fence, checkpoint: NewCheckpoint, durability: Durability) =>
      putCheckpoint(db, fence, checkpoint, durability),
    putWrites: (fence: Fence, writes: NewWrites, durability: Durability) =>
      putWrites(db, fence, writes, durability),
    find: (query: CheckpointQuery) => findCheckpoints(db, query),
    ancestors: (query: AncestorQuery) => ancestors(db, query),
    removeThread: (fence: Fence, thread_id: string) =>
      writeUnder(db, fence, 'promised', (tx) => removeCheckpointsOfThread(tx, thread_id)),
  };
}

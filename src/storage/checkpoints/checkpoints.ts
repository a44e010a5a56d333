import type { Db, Durability } from '../../db/db.ts';
import type { OpenAttempts } from '../runs/write-buffer.ts';
import { removeCheckpointsOfThread } from './delete.ts';
import { type AncestorQuery, ancestors, type CheckpointQuery, findCheckpoints } from './find.ts';
import {
  type Fence,
  type NewCheckpoint,
  type NewWrites,
  putCheckpoint,
  putWrites,
  writeUnder,
} from './put.ts';

export type CheckpointRepository = ReturnType<typeof checkpointRepository>;

/**
 * What graphs remember of each step: checkpoints, the values of their channels, and the writes of tasks that wait to
 * be applied. Writers say what allows them to write; false means that it does not, and nothing is written.
 */
export function checkpointRepository(db: Db, open?: OpenAttempts) {
  return {
    put: (fence: Fence, checkpoint: NewCheckpoint, durability: Durability) =>
      putCheckpoint(db, fence, checkpoint, durability),
    putWrites: (fence: Fence, writes: NewWrites, durability: Durability) =>
      putWrites(db, fence, writes, durability),
    /** Also what an attempt in this process has shown to clients and not committed yet. */
    async find(query: CheckpointQuery) {
      await open?.readable(query.thread_id);
      return findCheckpoints(db, query);
    },
    ancestors: (query: AncestorQuery) => ancestors(db, query),
    removeThread: (fence: Fence, thread_id: string) =>
      writeUnder(db, fence, 'promised', (tx) => removeCheckpointsOfThread(tx, thread_id)),
  };
}

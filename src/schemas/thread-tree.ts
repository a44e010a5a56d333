import { z } from 'zod';
import { Cursor, QueryFlag, queryInt, Timestamp, Uuid } from './fields.ts';
import { nameResponses } from './named.ts';

export const ThreadTreeQuery = z.object({
  subgraphs: QueryFlag.default(false).meta({
    description: 'Whether to include the checkpoints of subgraphs.',
  }),
  limit: queryInt({ min: 1, max: 1000 })
    .default(100)
    .meta({ description: 'How many checkpoints to return.' }),
  cursor: Cursor,
});
export type ThreadTreeQuery = z.infer<typeof ThreadTreeQuery>;

/** A checkpoint in the history of a thread, without its values. */
export const CheckpointNode = z.object({
  checkpoint_id: z.string(),
  /** Empty for the graph itself; names a task for a subgraph. */
  checkpoint_ns: z.string(),
  /** The checkpoint it follows; several follow the same one where the history forks. `null` for the first. */
  parent_checkpoint_id: z.string().nullable(),
  /**
   * Counts from -1, the input; `null`, like `source` and `created_at`, if the checkpoint cannot be decrypted.
   */
  step: z.int().nullable(),
  /** `input`, `loop`, `update` or `fork`. */
  source: z.string().nullable(),
  /** The run that wrote it; `null` for a state update, and in a copy of a thread. */
  run_id: Uuid.nullable(),
  created_at: Timestamp.nullable(),
  /**
   * Nodes whose results it holds, `__start__` for the input; `null` if the parent was pruned, or one of both cannot be
   * decrypted. A node that only ever runs by `Send` is known as long as the steps of its run are kept.
   */
  nodes: z.array(z.string()).nullable(),
  /** Channels of the state that differ from the parent; `null` if the parent was pruned. */
  changed_channels: z.array(z.string()).nullable(),
});
export type CheckpointNode = z.infer<typeof CheckpointNode>;

nameResponses({ CheckpointNode });

import { z } from 'zod';
import { LongPath, Name, uniqueList } from './bounds.ts';
import {
  FilterObject,
  JsonObject,
  Limit,
  QueryFlag,
  QueryLimit,
  queryList,
  SmallObject,
  withFewCopies,
} from './fields.ts';
import { nameRequests, nameResponses } from './named.ts';
import { Interrupt } from './threads.ts';

export const CheckpointConfig = z.looseObject({
  thread_id: Name.optional().describe('The thread of the checkpoint.'),
  checkpoint_ns: LongPath.optional().describe('The namespace of a subgraph; empty for the graph itself.'),
  checkpoint_id: Name.nullish().describe('The id of the checkpoint; the newest by default.'),
  checkpoint_map: JsonObject.nullish().describe('The checkpoints of the parent graphs of a subgraph.'),
});
export type CheckpointConfig = z.infer<typeof CheckpointConfig>;

export const ThreadTask = z.object({
  id: z.string(),
  name: z.string(),
  path: z.array(z.unknown()).optional(),
  error: z.unknown(),
  interrupts: z.array(Interrupt),
  checkpoint: CheckpointConfig.nullable(),
  /** The subgraph's state, if `subgraphs` was requested. */
  state: z.unknown(),
  result: z.unknown(),
});
export type ThreadTask = z.infer<typeof ThreadTask>;

export const ThreadState = z.object({
  values: z.unknown(),
  next: z.array(z.string()),
  tasks: z.array(ThreadTask),
  metadata: JsonObject.nullable(),
  created_at: z.string().nullable(),
  checkpoint: CheckpointConfig.nullable(),
  parent_checkpoint: CheckpointConfig.nullable(),
  interrupts: z.array(Interrupt),
  checkpoint_id: z.string().nullable(),
  parent_checkpoint_id: z.string().nullable(),
});
export type ThreadState = z.infer<typeof ThreadState>;

/** A field of a state, or one channel of its values (contract §2.2). */
export const ThreadStateField = z.union([
  z.enum([
    'values',
    'next',
    'tasks',
    'checkpoint',
    'metadata',
    'created_at',
    'parent_checkpoint',
    'interrupts',
    'checkpoint_id',
    'parent_checkpoint_id',
  ]),
  z.templateLiteral(['values.', Name]),
]);
export type ThreadStateField = z.infer<typeof ThreadStateField>;

const SELECT = 'The fields to return, or `values.<channel>` for one value; all by default.';

export const ThreadStateQuery = z.object({
  select: queryList(ThreadStateField).optional().meta({ description: SELECT }),
  subgraphs: QueryFlag.default(false).meta({ description: 'Whether to include the state of subgraphs.' }),
});

export const ThreadStateAtCheckpoint = z.object({
  checkpoint: CheckpointConfig.describe('`{}` for the newest.'),
  subgraphs: z.boolean().default(false).describe('Whether to include the state of subgraphs.'),
  select: uniqueList(ThreadStateField).nullish().describe(SELECT),
});
export type ThreadStateAtCheckpoint = z.infer<typeof ThreadStateAtCheckpoint>;

export const ThreadStateUpdate = z
  .object({
    values: z
      .union([JsonObject, z.array(z.unknown())])
      .nullish()
      .describe('The update, as a node would return it.'),
    as_node: Name.nullish().describe('The node that the update is attributed to; by default the last one.'),
    checkpoint: CheckpointConfig.nullish().describe('The state to change, instead of the newest.'),
    checkpoint_id: Name.nullish().describe('The checkpoint by its id alone; sent by older clients.'),
  })
  .refine(...withFewCopies);
export type ThreadStateUpdate = z.infer<typeof ThreadStateUpdate>;

export const ThreadStatePatch = z.object({
  metadata: SmallObject.describe("Merged into the thread's metadata, key by key."),
});

export const ThreadStateUpdated = z.object({
  checkpoint: CheckpointConfig,
  configurable: CheckpointConfig,
  checkpoint_id: z.string(),
});
export type ThreadStateUpdated = z.infer<typeof ThreadStateUpdated>;

/** An id, a checkpoint, or a config that holds one: clients send all three (contract §17). */
const HistoryBefore = z.union([Name, z.looseObject({ configurable: CheckpointConfig }), CheckpointConfig]);

export const ThreadHistory = z.object({
  limit: Limit.default(1).describe('How many states to return, newest first.'),
  before: HistoryBefore.nullish().describe('Only states before this checkpoint.'),
  metadata: FilterObject.nullish().describe(
    'Only states whose checkpoint has this metadata, such as `{"step": 0}`.',
  ),
  checkpoint: CheckpointConfig.nullish().describe('The states of the subgraph with this namespace.'),
  select: uniqueList(ThreadStateField).nullish().describe(SELECT),
});
export type ThreadHistory = z.infer<typeof ThreadHistory>;

/** Query form: `before` is a checkpoint id, and the default limit differs (contract §17). */
export const ThreadHistoryQuery = z.object({
  limit: QueryLimit.default(10).meta({ description: 'How many states to return, newest first.' }),
  before: Name.optional().meta({ description: 'Only states before the checkpoint with this id.' }),
  select: queryList(ThreadStateField).optional().meta({ description: SELECT }),
});

nameRequests({
  ThreadStateCheckpointRequest: ThreadStateAtCheckpoint,
  ThreadStateUpdate,
  ThreadStatePatch,
  ThreadStateSearch: ThreadHistory,
  CheckpointConfig,
});
nameResponses({ ThreadState, ThreadTask, ThreadStateUpdateResponse: ThreadStateUpdated });

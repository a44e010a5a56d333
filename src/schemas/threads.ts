import { z } from 'zod';
import { Command } from './command.ts';
import {
  FilterObject,
  JsonObject,
  Limit,
  Offset,
  queryList,
  SmallObject,
  SortOrder,
  Timestamp,
  Uuid,
} from './fields.ts';
import { TtlMinutes } from './numbers.ts';

export const ThreadStatus = z.enum(['idle', 'busy', 'interrupted', 'error']);
export type ThreadStatus = z.infer<typeof ThreadStatus>;

export const Interrupt = z.looseObject({
  id: z.string().nullish(),
  value: z.unknown(),
  /** JSON Schema of the answer, if the graph gave one. */
  response_schema: JsonObject.nullish(),
});
export type Interrupt = z.infer<typeof Interrupt>;

/** What ended a run or marks a thread: the class of the error and its text (CONTRACT §3). */
export const RunError = z.object({ error: z.string(), message: z.string() });
export type RunError = z.infer<typeof RunError>;

export const ThreadTtl = z.looseObject({
  strategy: z
    .enum(['delete', 'keep_latest'])
    .default('delete')
    .describe('What goes: the thread, or all but its newest checkpoint.'),
  ttl: TtlMinutes.optional().describe('Minutes from now; 0 or less: at the next sweep.'),
});
export type ThreadTtl = z.infer<typeof ThreadTtl>;

/** What becomes of a thread, and when. */
export const ThreadExpiry = z.object({
  strategy: z.enum(['delete', 'keep_latest']),
  ttl_minutes: z.number(),
  /** Null when its history has gone and nothing was added since. */
  expires_at: Timestamp.nullable(),
});
export type ThreadExpiry = z.infer<typeof ThreadExpiry>;

/** `include` is a list; what it does not know is ignored (CONTRACT §2.2). */
export const ThreadGetQuery = z.looseObject({
  include: queryList(z.string())
    .optional()
    .meta({ description: '`ttl`: also when the thread goes.', type: 'string' }),
});

export const Thread = z.object({
  thread_id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  state_updated_at: Timestamp.optional(),
  metadata: JsonObject,
  status: ThreadStatus,
  config: JsonObject,
  /** Graph state after the last finished run; null before. */
  values: z.unknown(),
  /** Task id → what it asks; only tasks that wait. Absent before the first run or state update. */
  interrupts: z.record(z.string(), z.array(Interrupt)).optional(),
  error: RunError.nullish(),
  extracted: JsonObject.optional(),
  /** Only when it is asked for, and only of a thread that goes. */
  ttl: ThreadExpiry.optional(),
});
export type Thread = z.infer<typeof Thread>;

/** What one node returned in a superstep. */
export const ThreadSuperstepUpdate = z.looseObject({
  values: z
    .union([JsonObject, z.array(z.unknown())])
    .nullish()
    .describe('What the node returned.'),
  command: Command.nullish().describe('The command it returned instead.'),
  as_node: z.string().describe('The node.'),
});

export const ThreadSuperstep = z.looseObject({ updates: z.array(ThreadSuperstepUpdate).min(1) });
export type ThreadSuperstep = z.infer<typeof ThreadSuperstep>;

export const ThreadCreate = z.looseObject({
  thread_id: Uuid.optional().describe('An id of your own; a new one without it.'),
  metadata: SmallObject.optional().describe('Anything to find the thread by.'),
  if_exists: z
    .enum(['raise', 'do_nothing'])
    .default('raise')
    .describe('What happens when the id is taken: 409, or the thread that has it is returned.'),
  ttl: ThreadTtl.optional().describe('When the thread may go.'),
  supersteps: z
    .array(ThreadSuperstep)
    .optional()
    .describe('A history to begin with, as the nodes of `metadata.graph_id` would have made it.'),
});
export type ThreadCreate = z.infer<typeof ThreadCreate>;

export const ThreadPatch = z.looseObject({
  metadata: SmallObject.optional().describe('Merged into what is there, key by key.'),
  ttl: ThreadTtl.optional().describe('When the thread may go, counted from now.'),
});
export type ThreadPatch = z.infer<typeof ThreadPatch>;

/** `return=minimal` answers 204 (CONTRACT §1). */
export const ThreadPatchHeaders = z.looseObject({
  prefer: z.string().optional().meta({ description: '`return=minimal` for an answer without a body.' }),
});

export const ThreadField = z.enum([
  'thread_id',
  'created_at',
  'updated_at',
  'state_updated_at',
  'metadata',
  'config',
  'status',
  'values',
  'interrupts',
  'error',
]);

export const ThreadFilter = z.looseObject({
  metadata: FilterObject.optional().describe('Only threads whose metadata contains this.'),
  values: FilterObject.optional().describe('Only threads whose values contain this.'),
  status: ThreadStatus.optional().describe('Only threads of this status.'),
});
export type ThreadFilter = z.infer<typeof ThreadFilter>;

const EXTRACT_PATH = /^(config|interrupts|metadata|values)($|[.[])/;

export const ThreadSearch = ThreadFilter.extend({
  ids: z.array(Uuid).optional().describe('Only these threads; an empty list means all.'),
  limit: Limit.default(10).describe('How many threads to return.'),
  offset: Offset.default(0).describe('How many threads to skip.'),
  sort_by: z
    .enum(['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'])
    .default('updated_at')
    .describe('The field that orders the threads.'),
  sort_order: SortOrder.default('desc').describe('Up or down.'),
  select: z.array(ThreadField).optional().describe('The fields to return; all without it.'),
  extract: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'alias must be an identifier'),
      z.string().regex(EXTRACT_PATH, 'path must start with config, interrupts, metadata or values'),
    )
    .refine((paths) => Object.keys(paths).length <= 10, 'at most 10 paths')
    .optional()
    .describe('Parts to return as `extracted`: name → path, such as `values.messages[-1]`.'),
});
export type ThreadSearch = z.infer<typeof ThreadSearch>;

export const ThreadPrune = z.looseObject({
  thread_ids: z.array(Uuid).describe('The threads; all of them must exist.'),
  strategy: z
    .enum(['delete', 'keep_latest'])
    .default('delete')
    .describe('What goes: the threads, or all but the newest checkpoint of each that has no run in flight.'),
});
export type ThreadPrune = z.infer<typeof ThreadPrune>;

export const ThreadsPruned = z.object({ pruned_count: z.int() });
export type ThreadsPruned = z.infer<typeof ThreadsPruned>;

const stored = { count: z.int(), bytes: z.int() };

/** What the history of a thread takes (CONTRACT §2.2). */
export const ThreadStorage = z.object({
  thread_id: Uuid,
  total_bytes: z.int(),
  checkpoints: z.object(stored),
  channel_values: z.object({
    ...stored,
    by_channel: z.record(z.string(), z.object({ versions: z.int(), bytes: z.int() })),
  }),
  pending_writes: z.object(stored),
});
export type ThreadStorage = z.infer<typeof ThreadStorage>;

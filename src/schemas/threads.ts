import { z } from 'zod';
import { JsonObject, Limit, Offset, SortOrder, Timestamp, Uuid } from './fields.ts';

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
  strategy: z.enum(['delete', 'keep_latest']).default('delete'),
  /** Minutes. */
  ttl: z.number().optional(),
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
});
export type Thread = z.infer<typeof Thread>;

export const ThreadCreate = z.looseObject({
  thread_id: Uuid.optional(),
  metadata: JsonObject.optional(),
  if_exists: z.enum(['raise', 'do_nothing']).default('raise'),
  ttl: ThreadTtl.optional(),
});
export type ThreadCreate = z.infer<typeof ThreadCreate>;

export const ThreadPatch = z.looseObject({
  metadata: JsonObject.optional(),
  ttl: ThreadTtl.optional(),
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
  metadata: JsonObject.optional(),
  values: JsonObject.optional(),
  status: ThreadStatus.optional(),
});
export type ThreadFilter = z.infer<typeof ThreadFilter>;

const EXTRACT_PATH = /^(config|interrupts|metadata|values)($|[.[])/;

export const ThreadSearch = ThreadFilter.extend({
  /** Empty means no filter (CONTRACT §2.2). */
  ids: z.array(Uuid).optional(),
  limit: Limit.default(10),
  offset: Offset.default(0),
  sort_by: z
    .enum(['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'])
    .default('updated_at'),
  sort_order: SortOrder.default('desc'),
  select: z.array(ThreadField).optional(),
  extract: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'alias must be an identifier'),
      z.string().regex(EXTRACT_PATH, 'path must start with config, interrupts, metadata or values'),
    )
    .refine((paths) => Object.keys(paths).length <= 10, 'at most 10 paths')
    .optional(),
});
export type ThreadSearch = z.infer<typeof ThreadSearch>;

import { z } from 'zod';
import { parseTimestamp } from '../core/clock.ts';
import { END_OF_TIME } from '../core/cron-times.ts';
import { Config } from './assistants.ts';
import { MAX_SCALAR_LENGTH, Name, uniqueList } from './bounds.ts';
import {
  FilterObject,
  JsonObject,
  Limit,
  Offset,
  QueryLimit,
  QueryOffset,
  SortOrder,
  Timestamp,
  Uuid,
} from './fields.ts';
import { nameRequests, nameResponses } from './named.ts';
import { RunCreate, RunStatus } from './runs.ts';

/** A moment: with a UTC offset, or UTC without one, like a naive Python datetime. */
const EndTime = z.iso
  .datetime({ offset: true, local: true, error: 'must be a date and time, such as 2030-12-31T23:59:59Z' })
  .max(MAX_SCALAR_LENGTH)
  // The range that both databases can store and sort.
  .refine(
    (text) => parseTimestamp(text) >= Date.UTC(1900, 0) && parseTimestamp(text) < END_OF_TIME,
    'must be in the years 1900 to 9999',
  )
  .meta({ format: 'date-time' });

/** Scheduled runs (contract §11). */
export const Cron = z.object({
  cron_id: Uuid,
  assistant_id: Uuid,
  /** `null`: each run creates its own thread. */
  thread_id: Uuid.nullable(),
  user_id: z.string(),
  end_time: z.string().nullable(),
  /** Five fields, a nickname, or `@at ` and a time. */
  schedule: z.string(),
  timezone: z.string().nullable(),
  payload: JsonObject,
  /** `null` if no run will follow: disabled or ended. */
  next_run_date: Timestamp.nullable(),
  metadata: JsonObject,
  on_run_completed: z.enum(['delete', 'keep']).nullable(),
  enabled: z.boolean(),
  /** Why the server disabled it. */
  disabled_reason: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
  /** The time of the server. Present only if a search selects it. */
  now: Timestamp.optional(),
});
export type Cron = z.infer<typeof Cron>;

const { shape: run } = RunCreate;

/** Run request of every tick. */
const RUN_FIELDS = {
  input: run.input,
  metadata: run.metadata.describe(
    'Any data to find the cron by; also stored with its runs and their threads.',
  ),
  config: Config.nullish().describe("Merged into the assistant's configuration, and takes precedence."),
  context: run.context,
  webhook: run.webhook,
  interrupt_before: run.interrupt_before,
  interrupt_after: run.interrupt_after,
  multitask_strategy: run.multitask_strategy,
  stream_mode: run.stream_mode,
  stream_subgraphs: run.stream_subgraphs,
  stream_resumable: run.stream_resumable,
  feedback_keys: run.feedback_keys,
  priority: run.priority,
  checkpoint_during: run.checkpoint_during,
  durability: run.durability,
};

/** Payload fields that runs take; other fields of a client are only returned. */
export const CRON_RUN_FIELDS: readonly string[] = [...Object.keys(RUN_FIELDS), 'if_not_exists'];

const SCHEDULE = {
  schedule: z
    .string()
    .max(1000)
    .optional()
    .describe('Five fields: minute, hour, day of month, month, day of week; or `@daily`.'),
  at: EndTime.optional().describe(
    'Instead of a schedule: the only time at which the cron creates a run, in the future.',
  ),
  timezone: Name.nullish().describe(
    'The time zone of the schedule, such as `Europe/Berlin`; UTC by default.',
  ),
  end_time: EndTime.nullish().describe('No runs are created after this time.'),
  enabled: z.boolean().optional().describe('Whether the cron creates runs; true by default.'),
};

const on_run_completed = z
  .enum(['delete', 'keep'])
  .nullish()
  .describe('What happens to the thread of each run when the run has ended; `delete` by default.');

/** Runs on one thread. Loose: the cron shows its request as it was sent. */
export const ThreadCronCreate = z.looseObject({
  ...SCHEDULE,
  assistant_id: run.assistant_id,
  ...RUN_FIELDS,
  if_not_exists: run.if_not_exists,
});
export type ThreadCronCreate = z.infer<typeof ThreadCronCreate>;

/** Runs on their own threads; loose likewise. */
export const CronCreate = z.looseObject({
  ...SCHEDULE,
  assistant_id: run.assistant_id,
  ...RUN_FIELDS,
  on_run_completed,
});
export type CronCreate = z.infer<typeof CronCreate>;

/** Merges `metadata` into the cron, replaces it in the run request (contract §2.5). */
export const CronPatch = z.looseObject({
  schedule: SCHEDULE.schedule,
  at: SCHEDULE.at,
  timezone: SCHEDULE.timezone,
  end_time: SCHEDULE.end_time.describe('No runs are created after this time; null: no end.'),
  enabled: z
    .boolean()
    .optional()
    .describe('Whether the cron creates runs. Times missed while it was paused are skipped.'),
  ...RUN_FIELDS,
  on_run_completed: on_run_completed.describe(
    'What happens to the thread of each run when the run has ended.',
  ),
});
export type CronPatch = z.infer<typeof CronPatch>;

export const CronCount = z.object({
  assistant_id: Name.optional().describe('Only crons of this assistant: its id, or the name of a graph.'),
  thread_id: Uuid.optional().describe('Only crons of this thread.'),
  metadata: FilterObject.optional().describe('Only crons whose metadata contains this.'),
});
export type CronCount = z.infer<typeof CronCount>;

export const CronFilter = CronCount.extend({
  enabled: z.boolean().optional().describe('Only enabled crons, or only paused ones.'),
  ended: z
    .boolean()
    .optional()
    .describe('Only crons without a further time, or only the others. A paused cron has not ended.'),
});
export type CronFilter = z.infer<typeof CronFilter>;

export const CronSearch = CronFilter.extend({
  limit: Limit.default(10).describe('How many crons to return.'),
  offset: Offset.default(0).describe('How many crons to skip.'),
  sort_by: z
    .enum(['cron_id', 'assistant_id', 'thread_id', 'next_run_date', 'end_time', 'created_at', 'updated_at'])
    .default('created_at')
    .describe('The field to sort by; crons without a value come last.'),
  sort_order: SortOrder.default('desc').describe('The sort order.'),
  select: uniqueList(z.enum(Cron.keyof().options))
    .optional()
    .describe('The fields to return; all by default.'),
});
export type CronSearch = z.infer<typeof CronSearch>;

/** Outcome of a tick. */
export const CronRun = z.object({
  cron_id: Uuid,
  /** The scheduled time; `null` for a manual trigger. */
  tick: Timestamp.nullable(),
  fired_at: Timestamp,
  /** `rejected`: another run was in flight; `skipped`: missed; `failed`: see `detail`. */
  outcome: z.enum(['started', 'rejected', 'skipped', 'failed']),
  detail: z.string().nullable(),
  run_id: Uuid.nullable(),
  thread_id: Uuid.nullable(),
  /** Status of the run; retained after the run is deleted. */
  status: RunStatus.nullable(),
});
export type CronRun = z.infer<typeof CronRun>;

export const CronRunsQuery = z.object({
  limit: QueryLimit.default(10).meta({ description: 'How many runs to return.' }),
  offset: QueryOffset.default(0).meta({ description: 'How many runs to skip.' }),
});
export type CronRunsQuery = z.infer<typeof CronRunsQuery>;

/** Explanation of when a cron fires next, or why it does not. */
export const CronExplanation = z.object({
  cron_id: Uuid,
  /**
   * `scheduled`: fires at `next_run_date`; `due`: fires now; `overdue`: should have fired more than a minute ago;
   * `paused`: by a client; `disabled`: by the server; `ended`: no further date.
   */
  state: z.enum(['scheduled', 'due', 'overdue', 'paused', 'disabled', 'ended']),
  /** Human-readable; the fields say the same. */
  summary: z.string(),
  schedule: z.string(),
  timezone: z.string().nullable(),
  next_run_date: Timestamp.nullable(),
  end_time: z.string().nullable(),
  /** How long ago it should have fired, ms; 0 unless it is due. */
  overdue_ms: z.int(),
  /** Why the server disabled it. */
  disabled_reason: z.string().nullable(),
  /** The last times, newest first; at most 5. */
  fires: z.array(CronRun),
});
export type CronExplanation = z.infer<typeof CronExplanation>;

nameRequests({ CronCreate, ThreadCronCreate, CronPatch, CronSearch, CronCountRequest: CronCount });
nameResponses({ CronExplanation, Cron, CronRun });

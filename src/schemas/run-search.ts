import { z } from 'zod';
import { MAX_NAMES, Name, uniqueList } from './bounds.ts';
import { Cursor, FilterObject, JsonObject, Limit, Timestamp, TimestampText, Uuid } from './fields.ts';
import { nameRequests, nameResponses } from './named.ts';
import { Run, RunStatus } from './runs.ts';
import { RunError } from './threads.ts';

/** A run in a list of all threads; without its kwargs, which may be large, unless selected. */
export const RunSummary = Run.omit({ langsmith_session_name: true }).extend({
  kwargs: JsonObject.optional(),
  cancel_reason: z.string().nullable(),
  started_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
  error: RunError.nullable(),
  /** Whether the thread waits for a person where this run stopped. Its status is `success` then. */
  waiting: z.boolean(),
  /** It was deleted at its end with its temporary thread, as stateless runs are: this is all that is left of it. */
  removed: z.boolean(),
});
export type RunSummary = z.infer<typeof RunSummary>;

export const RunSummaryField = z.enum(RunSummary.keyof().options);
export type RunSummaryField = z.infer<typeof RunSummaryField>;

export const RunFilter = z.object({
  status: z
    .union([RunStatus, z.array(RunStatus).min(1).max(MAX_NAMES)])
    .optional()
    .describe('Only runs with this status, or with one of these.'),
  assistant_id: Name.optional().describe(
    'Only runs of this assistant: its id, or the name of a graph for its default assistant.',
  ),
  graph_id: Name.optional().describe('Only runs of assistants that currently have this graph.'),
  waiting: z
    .boolean()
    .optional()
    .describe(
      'Only runs whose thread waits for a person where they stopped, at an interrupt or a breakpoint; with `false` only others. Their status is `success`.',
    ),
  thread_id: Uuid.optional().describe('Only runs of this thread.'),
  thread_metadata: FilterObject.optional().describe(
    'Only runs on threads whose metadata contains this, as in a search of threads.',
  ),
  metadata: FilterObject.optional().describe('Only runs whose own metadata contains this.'),
  error: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      'Only runs whose error, `Class: message`, contains this text, ignoring case. 422 if errors are encrypted.',
    ),
  created_from: TimestampText.optional().describe('Only runs created at this time or later.'),
  created_to: TimestampText.optional().describe('Only runs created before this time.'),
  ended_from: TimestampText.optional().describe('Only runs that ended at this time or later.'),
  ended_to: TimestampText.optional().describe('Only runs that ended before this time.'),
});
export type RunFilter = z.infer<typeof RunFilter>;

export const RunSearch = RunFilter.extend({
  limit: Limit.default(10).describe('How many runs to return.'),
  cursor: Cursor,
  select: uniqueList(RunSummaryField)
    .optional()
    .describe('The fields to return; by default all except `kwargs`.'),
  with_removed: z
    .boolean()
    .default(false)
    .describe(
      'Also stateless runs that ended within the last hour, the newest 10,000, although they were deleted with their temporary threads. They have no `metadata`. Only for callers who may see every thread.',
    ),
});
export type RunSearch = z.infer<typeof RunSearch>;

nameRequests({ RunSearchRequest: RunSearch, RunCountRequest: RunFilter });
nameResponses({ RunSummary });

import { z } from 'zod';
import { Name, uniqueList } from './bounds.ts';
import { Cursor, FilterObject, JsonObject, SortOrder, Timestamp, TimestampText, Uuid } from './fields.ts';
import { nameRequests, nameResponses } from './named.ts';
import { boundedInt } from './numbers.ts';

/** An interrupt that waits for an answer. */
export const PendingInterrupt = z.object({
  interrupt_id: z.string(),
  thread_id: Uuid,
  /** The graph task that asks. */
  task_id: z.string(),
  /** The newest run of the thread, and its assistant; `null` if that run was deleted. */
  run_id: Uuid.nullable(),
  assistant_id: Uuid.nullable(),
  /** When the thread's state last changed. */
  since: Timestamp,
  /** The question. Absent if it is larger than `MAX_VALUE_BYTES`. */
  value: z.unknown().optional(),
  /** Size of the value as JSON. */
  value_bytes: z.int(),
  /** JSON Schema of the answer, if the graph provides one. */
  response_schema: JsonObject.nullish(),
  /** When an answer is due: `deadline` of the value. Absent if the value contains no deadline. */
  deadline: Timestamp.optional(),
});
export type PendingInterrupt = z.infer<typeof PendingInterrupt>;

/** An answer to an interrupt, stored with the run that brought it. */
export const InterruptAnswer = z.object({
  interrupt_id: z.string(),
  thread_id: Uuid,
  /** The graph task that asked. */
  task_id: z.string(),
  /** The run with the answer, and its assistant. */
  run_id: Uuid,
  assistant_id: Uuid,
  /** Since when the interrupt had been pending. */
  since: Timestamp,
  /** When it was answered. */
  created_at: Timestamp,
  /** The user who answered, and the API key of the request; `null` without one. */
  user_id: z.string().nullable(),
  key_id: z.string().nullable(),
  /** The question. Absent if it is larger than `MAX_VALUE_BYTES`. */
  value: z.unknown().optional(),
  /** Size of the value as JSON. */
  value_bytes: z.int(),
  /**
   * The answer, `null` if the run only continued. Absent if it is larger than `MAX_VALUE_BYTES`: read it from
   * the run.
   */
  answer: z.unknown().optional(),
  /** Size of the answer as JSON. */
  answer_bytes: z.int(),
});
export type InterruptAnswer = z.infer<typeof InterruptAnswer>;

/** Lists omit larger values; read them from the thread's state. */
export const MAX_VALUE_BYTES = 32 * 1024;

const InterruptField = z.enum(PendingInterrupt.keyof().options);

export const InterruptFilter = z.object({
  thread_metadata: FilterObject.optional().describe(
    'Only interrupts of threads whose metadata contains this, as in a search of threads.',
  ),
  assistant_id: Name.optional().describe(
    'Only where this assistant ran last: its id, or the name of a graph for its default assistant.',
  ),
  since_from: TimestampText.optional().describe(
    'Only interrupts that have been pending since this time or later.',
  ),
  since_to: TimestampText.optional().describe(
    'Only interrupts that have been pending since before this time.',
  ),
  deadline_from: TimestampText.optional().describe(
    'Only interrupts whose value has a `deadline` at this time or later: an ISO 8601 timestamp with a time zone.',
  ),
  deadline_to: TimestampText.optional().describe(
    'Only interrupts whose value has a `deadline` before this time.',
  ),
});
export type InterruptFilter = z.infer<typeof InterruptFilter>;

export const InterruptSearch = InterruptFilter.extend({
  limit: boundedInt({ min: 1, max: 100 }).default(10).describe('How many interrupts to return.'),
  cursor: Cursor,
  sort_order: SortOrder.default('desc').describe('Newest first, or with `asc` longest pending first.'),
  select: uniqueList(InterruptField).optional().describe('The fields to return; all by default.'),
});
export type InterruptSearch = z.infer<typeof InterruptSearch>;

const AnswerField = z.enum(InterruptAnswer.keyof().options);

export const InterruptAnswerSearch = z.object({
  thread_metadata: FilterObject.optional().describe(
    'Only answers on threads whose metadata contains this, as in a search of threads.',
  ),
  thread_id: Uuid.optional().describe('Only answers on this thread.'),
  interrupt_id: Name.optional().describe('Only answers to this interrupt.'),
  assistant_id: Name.optional().describe(
    'Only answers with runs of this assistant: its id, or the name of a graph for its default assistant.',
  ),
  user_id: Name.optional().describe('Only answers of this user.'),
  created_from: TimestampText.optional().describe('Only answers given at this time or later.'),
  created_to: TimestampText.optional().describe('Only answers given before this time.'),
  limit: boundedInt({ min: 1, max: 100 }).default(10).describe('How many answers to return.'),
  cursor: Cursor,
  sort_order: SortOrder.default('desc').describe('Newest first, or with `asc` oldest first.'),
  select: uniqueList(AnswerField).optional().describe('The fields to return; all by default.'),
});
export type InterruptAnswerSearch = z.infer<typeof InterruptAnswerSearch>;

nameRequests({
  InterruptSearchRequest: InterruptSearch,
  InterruptCountRequest: InterruptFilter,
  InterruptAnswerSearchRequest: InterruptAnswerSearch,
});
nameResponses({ PendingInterrupt, InterruptAnswer });

import { z } from 'zod';
import { toJson } from '../core/json.ts';
import { cutNote } from '../core/text.ts';
import { Uuid } from './fields.ts';

/**
 * What is kept of a step at the level `contents`, as the process that executes the graph records it. Values are JSON. What
 * the steps of a thread often share is in `texts`, by its digest: there once for all steps of an attempt.
 */
export const RecordedContents = z.object({
  /** Digests of the messages that a model was given, in order. */
  messages: z.array(z.string()).optional(),
  /** Digest of the tools that it was offered. */
  tools: z.string().optional(),
  /** Digests of the messages that it answered. */
  answer: z.array(z.string()).optional(),
  /** Digest of the failure of the step. */
  failure: z.string().optional(),
  parameters: z.string().optional(),
  input: z.string().optional(),
  output: z.string().optional(),
  /** Digests of the messages whose content `output` has; marks are in its place (`graphs/steps/content-marks.ts`). */
  repeats: z.array(z.string()).optional(),
  /** Texts that no earlier step of the attempt has brought. */
  texts: z.record(z.string(), z.string()).optional(),
});
export type RecordedContents = z.infer<typeof RecordedContents>;

/** JSON of a message that stands for so many in the middle of a conversation. */
export function cutMessages(count: number): string {
  return toJson({ role: 'note', content: cutNote(count, 'messages') });
}

const [CUT_MESSAGES = ''] = cutMessages(0).split('0');

export function isCutNote(message: string): boolean {
  return message.startsWith(CUT_MESSAGES);
}

/** A line of a stack. */
export const FailureFrame = z.object({
  /** Name of the function; empty for an anonymous one. */
  call: z.string(),
  /** File, relative to the project if it is there. */
  path: z.string(),
  line: z.int(),
  column: z.int(),
  /** In code of the project, and not of a package or of the server. */
  is_own: z.boolean(),
  /** Absolute path, for administrators on the machine of the server: their editor can open it. */
  file: z.string().optional(),
});
export type FailureFrame = z.infer<typeof FailureFrame>;

/** An error, with the frames of its stack. */
export const FailureCause = z.object({
  error: z.string(),
  message: z.string(),
  frames: z.array(FailureFrame),
  /** Source around the first frame of the project, with a mark at the line. */
  code: z.string().nullable(),
});
export type FailureCause = z.infer<typeof FailureCause>;

/** Why a step failed: the error, then what caused it. Users who may see only their own rows get the error alone. */
export const StepFailure = z.array(FailureCause);
export type StepFailure = z.infer<typeof StepFailure>;

/** What a step was given and returned. Long values are cut in the middle, with a note. */
export const StepInputOutput = z.object({
  /** What a model was given, in order: messages with `role` and `content`. Null for steps of other kinds. */
  messages: z.array(z.unknown()).nullable(),
  /**
   * How many of the messages, from the first one, the previous call in the same node of the thread was given too. Null
   * without a previous call, and where messages in the middle of one of the two are missing.
   */
  repeated: z.int().nullable(),
  /**
   * That previous call. The prefix of both ends where `repeated` is less than its number of messages, or where the tools
   * differ, which come first: from there on a provider's prompt cache does not help.
   */
  previous: z
    .object({ run_id: Uuid, step_id: z.string(), messages: z.int(), has_same_tools: z.boolean() })
    .nullable(),
  /** Tools that a model was offered. */
  tools: z.unknown(),
  /** Parameters of a model's call. */
  parameters: z.unknown(),
  /** What a model answered. */
  answer: z.array(z.unknown()).nullable(),
  /** What a tool, a retriever, the store or a task was given. The input of a node is the state at `checkpoint_id`. */
  input: z.unknown(),
  /** What a tool, a retriever or the store returned; of a node the update of the state. */
  output: z.unknown(),
  /** Error, causes and stack of a failed step. */
  failure: StepFailure.nullable(),
});
export type StepInputOutput = z.infer<typeof StepInputOutput>;

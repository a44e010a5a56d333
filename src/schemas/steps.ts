import { z } from 'zod';
import { MAX_SCALAR_LENGTH } from './bounds.ts';
import { queryInt, Timestamp, Uuid } from './fields.ts';
import { RunStatus } from './runs.ts';
import { RecordedContents, StepInputOutput } from './step-contents.ts';
import { RunError } from './threads.ts';

/**
 * How much of a run is recorded: nothing, its nodes, also their calls of models, tools, retrievers and the store, or also
 * what these were given and returned. Each level includes those before it.
 */
export const RECORD_LEVELS = ['off', 'nodes', 'all', 'contents'] as const;
export type RecordLevel = (typeof RECORD_LEVELS)[number];

/** Whether `level` records all that `wanted` does. */
export function includesLevel(level: RecordLevel, wanted: RecordLevel): boolean {
  return RECORD_LEVELS.indexOf(level) >= RECORD_LEVELS.indexOf(wanted);
}

export const StepKind = z.enum(['node', 'model', 'tool', 'retriever', 'store']);
export type StepKind = z.infer<typeof StepKind>;

/** `interrupted`: waits for a person; `cancelled`: the attempt ended before the step did. */
export const StepStatus = z.enum(['success', 'error', 'interrupted', 'cancelled']);
export type StepStatus = z.infer<typeof StepStatus>;

/** Input and output of a call, as JSON or text: present only for traces, and never stored. */
export const StepContents = z.object({ input: z.string().optional(), output: z.string().optional() });
export type StepContents = z.infer<typeof StepContents>;

/**
 * A step as the process that executes the graph records it: a node, or the call of a model, a tool, a retriever or the
 * long-term store.
 */
export const RecordedStep = z.object({
  /** Counts from 1 in each attempt, in the order in which steps begin. */
  number: z.int(),
  /** The step that this one is part of; null for a node of the root graph. */
  parent: z.int().nullable(),
  kind: StepKind,
  name: z.string(),
  /** The node that the step is, or belongs to. */
  node: z.string().nullable(),
  /** Namespace of the graph that holds the node; empty for the root graph. */
  namespace: z.string(),
  task_id: z.string().nullable(),
  /** Number of the superstep in its graph. */
  superstep: z.int().nullable(),
  /** The checkpoint at which the superstep began. */
  checkpoint_id: z.string().nullable(),
  /** Epoch ms. */
  started_at: z.number(),
  /** Epoch ms. */
  ended_at: z.number(),
  status: StepStatus,
  error: RunError.nullable(),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  /** Input tokens, including `tokens_cached` from the provider's cache; null if not reported. */
  tokens_in: z.int().nullable(),
  tokens_cached: z.int().nullable(),
  tokens_out: z.int().nullable(),
  /**
   * Number of model calls merged into this step, beyond the limit of recorded steps: they are charged but not
   * stored individually.
   */
  calls: z.int().optional(),
  contents: StepContents.optional(),
  /** With the level `contents`. */
  recorded: RecordedContents.optional(),
});
export type RecordedStep = z.infer<typeof RecordedStep>;

/** No list of steps has what they were given and returned. */
const NOT_LISTED = { calls: true, contents: true, recorded: true } as const;

/** A step that is not stored yet: it is executing (`ended_at` null), or its checkpoint is not stored yet. */
export const CurrentStep = RecordedStep.omit(NOT_LISTED).extend({
  /** Epoch ms. */
  ended_at: z.number().nullable(),
  status: z.enum([...StepStatus.options, 'running']),
});
export type CurrentStep = z.infer<typeof CurrentStep>;

/** A recorded step on the wire. */
export const Step = RecordedStep.omit(NOT_LISTED).extend({
  attempt: z.int(),
  /** Span id of the step in traces: 16 hexadecimal digits. */
  span_id: z.string(),
  started_at: Timestamp,
  ended_at: Timestamp,
  /** Cost by the configured price of the model, in the configured currency; null without a price. */
  cost: z.number().nullable(),
});
export type Step = z.infer<typeof Step>;

/** A recorded step on the wire, with what it was given and returned. */
export const StepDetails = Step.extend({
  run_id: Uuid,
  thread_id: Uuid,
  /** Null if the step was recorded without, as with `runs.record: all`, or if they were too large. */
  contents: StepInputOutput.nullable(),
});
export type StepDetails = z.infer<typeof StepDetails>;

/** A step on the wire that is not stored yet. */
export const VisibleCurrentStep = CurrentStep.extend({
  attempt: z.int(),
  span_id: z.string(),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
});
export type VisibleCurrentStep = z.infer<typeof VisibleCurrentStep>;

/** How an attempt ended; `retried`: another one continues the run; `lost`: its process ended or lost the run. */
export const AttemptStatus = z.enum([...RunStatus.exclude(['pending']).options, 'retried', 'lost']);
export type AttemptStatus = z.infer<typeof AttemptStatus>;

/** An execution of a run from its input or its last checkpoint. */
export const RunAttempt = z.object({
  attempt: z.int(),
  /** Span id of the attempt in traces: 16 hexadecimal digits. */
  span_id: z.string(),
  worker_id: Uuid,
  started_at: Timestamp,
  /** Null while the attempt executes, and if it was lost. */
  ended_at: Timestamp.nullable(),
  status: AttemptStatus,
  /**
   * The run whose interrupt it answered or from whose last checkpoint it continued; null if it started from its
   * input.
   */
  resumed_from_run_id: Uuid.nullable(),
});
export type RunAttempt = z.infer<typeof RunAttempt>;

const PAGE = { min: 1, max: 1000 };

export const StepsQuery = z.object({
  limit: queryInt(PAGE).default(PAGE.max).meta({ description: 'How many steps to return.' }),
  after: z
    .string()
    .max(MAX_SCALAR_LENGTH)
    .regex(/^\d{1,9}\.\d{1,9}$/)
    .optional()
    .meta({ description: 'Continue after this step: `next` of the previous page.' }),
});
export type StepsQuery = z.infer<typeof StepsQuery>;

/** Recorded attempts and steps of a run. */
export const RunSteps = z.object({
  run_id: Uuid,
  /** Trace id of the run: 32 hexadecimal digits. */
  trace_id: z.string(),
  attempts: z.array(RunAttempt),
  /** Ended steps whose checkpoint is stored, by attempt and number. */
  steps: z.array(Step),
  /**
   * Steps of a running run that are not stored yet: executing ones, with the status `running`, and those that
   * ended since the newest checkpoint. Null if unknown, because the process or graph host that executes the run
   * does not answer. At most 50 from another process, whose errors appear once they are stored.
   */
  current: z.array(VisibleCurrentStep).nullable(),
  /** `after` of the next page; null on the last one. */
  next: z.string().nullable(),
});
export type RunSteps = z.infer<typeof RunSteps>;

/** A step with its cost in the configured currency; null if it is not a model's call, or has no price. */
export type PricedStep = Omit<RecordedStep, 'recorded'> & { readonly cost: number | null };

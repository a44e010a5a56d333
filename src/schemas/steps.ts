import { z } from 'zod';
import { queryInt, Timestamp, Uuid } from './fields.ts';
import { RunStatus } from './runs.ts';
import { RunError } from './threads.ts';

/** What is recorded of a run: nothing, its nodes, or also the calls of models, tools, retrievers and the store in them. */
export const RECORD_LEVELS = ['off', 'nodes', 'all'] as const;
export type RecordLevel = (typeof RECORD_LEVELS)[number];

export const StepKind = z.enum(['node', 'model', 'tool', 'retriever', 'store']);
export type StepKind = z.infer<typeof StepKind>;

/** `interrupted`: it waits for a person; `cancelled`: the attempt ended before it did. */
export const StepStatus = z.enum(['success', 'error', 'interrupted', 'cancelled']);
export type StepStatus = z.infer<typeof StepStatus>;

/** What a call was given and what it returned, as JSON text or text: only where traces are to have it, and never stored. */
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
  /** The node that it is, or is part of. */
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
  /** Tokens that the model read, and how many of them its provider had in a cache; null if it did not say. */
  tokens_in: z.int().nullable(),
  tokens_cached: z.int().nullable(),
  tokens_out: z.int().nullable(),
  /** Of a sum of calls of a model beyond the limit of steps: how many. They are charged, and not stored one by one. */
  calls: z.int().optional(),
  contents: StepContents.optional(),
});
export type RecordedStep = z.infer<typeof RecordedStep>;

/** A step that is not stored yet: it executes (`ended_at` null), or its checkpoint is not stored. */
export const CurrentStep = RecordedStep.omit({ calls: true, contents: true }).extend({
  /** Epoch ms. */
  ended_at: z.number().nullable(),
  status: z.enum([...StepStatus.options, 'running']),
});
export type CurrentStep = z.infer<typeof CurrentStep>;

/** A recorded step on the wire. */
export const Step = RecordedStep.omit({ calls: true, contents: true }).extend({
  attempt: z.int(),
  /** Of the step in traces: 16 hexadecimal digits. */
  span_id: z.string(),
  started_at: Timestamp,
  ended_at: Timestamp,
  /** By the configured price of the model, in its currency; null if it has none. */
  cost: z.number().nullable(),
});
export type Step = z.infer<typeof Step>;

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
  /** Of the attempt in traces: 16 hexadecimal digits. */
  span_id: z.string(),
  worker_id: Uuid,
  started_at: Timestamp,
  /** Null while it executes, and if it was lost. */
  ended_at: Timestamp.nullable(),
  status: AttemptStatus,
  /** The run whose interrupt it answered, or whose last checkpoint it went on from; null if it began anew. */
  resumed_from_run_id: Uuid.nullable(),
});
export type RunAttempt = z.infer<typeof RunAttempt>;

const PAGE = { min: 1, max: 1000 };

export const StepsQuery = z.looseObject({
  limit: queryInt(PAGE).default(PAGE.max).meta({ description: 'Steps to return.' }),
  after: z
    .string()
    .regex(/^\d{1,9}\.\d{1,9}$/)
    .optional()
    .meta({ description: 'Continue after this step: `next` of the page before.' }),
});
export type StepsQuery = z.infer<typeof StepsQuery>;

/** What a run did. */
export const RunSteps = z.object({
  run_id: Uuid,
  /** Of the run in traces: 32 hexadecimal digits. */
  trace_id: z.string(),
  attempts: z.array(RunAttempt),
  /** Ended steps whose checkpoint is stored, by attempt and number. */
  steps: z.array(Step),
  /**
   * Steps of a running run that are not stored yet: those that execute, with the status `running`, and those that ended
   * since its newest checkpoint. Null if they are not known: the process or the graph host that executes the run does
   * not answer. From another process at most 50, with their errors once they are stored.
   */
  current: z.array(VisibleCurrentStep).nullable(),
  /** `after` of the next page; null on the last one. */
  next: z.string().nullable(),
});
export type RunSteps = z.infer<typeof RunSteps>;

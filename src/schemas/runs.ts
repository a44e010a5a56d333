import { z } from 'zod';
import { isObject } from '../core/json.ts';
import { Config } from './assistants.ts';
import { LongPath, MAX_ITEMS, Name, Names, uniqueList } from './bounds.ts';
import { Command } from './command.ts';
import {
  JsonObject,
  QueryFlag,
  QueryOffset,
  queryInt,
  queryList,
  SmallObject,
  Timestamp,
  Uuid,
} from './fields.ts';
import { nameRequests, nameResponses } from './named.ts';
import { boundedInt, boundedNumber, MAX_DELAY_S, MAX_INTEGER } from './numbers.ts';
import { StreamMode } from './stream-mode.ts';
import { CheckpointConfig } from './thread-state.ts';

export const RunStatus = z.enum(['pending', 'running', 'error', 'success', 'timeout', 'interrupted']);
export type RunStatus = z.infer<typeof RunStatus>;

export const MultitaskStrategy = z.enum(['reject', 'rollback', 'interrupt', 'enqueue']);
export type MultitaskStrategy = z.infer<typeof MultitaskStrategy>;

const NodeList = z.union([z.literal('*'), Names]);

/** Fields of a run request, with or without a thread (contract §2.3, §2.4, §3). */
const runFields = {
  run_id: Uuid.nullish().describe('Your own id; 409 if a run already has it.'),
  assistant_id: Name.describe('The id of an assistant, or the name of a graph.'),
  input: z
    .unknown()
    .optional()
    .describe('The input of the graph. Without input and command, the run resumes from the last checkpoint.'),
  command: Command.nullish().describe('A command instead of an input; takes precedence over `input`.'),
  strict_resume: z
    .boolean()
    .nullish()
    .describe(
      'Whether an answer that does not match the pending interrupts fails the run with `UnknownInterruptError`, its `reason` and the `pending_ids`; it is ignored by default.',
    ),
  checkpoint: CheckpointConfig.nullish().describe('The checkpoint to resume from, instead of the newest.'),
  checkpoint_id: Name.nullish().describe('The checkpoint by its id alone.'),
  metadata: SmallObject.nullish().describe('Stored with the run and its checkpoints.'),
  config: Config.nullish().describe("Merged into the assistant's configuration, and takes precedence."),
  context: SmallObject.nullish().describe('The context of the nodes. Not together with `configurable`.'),
  webhook: z
    .string()
    .min(1)
    .max(65536)
    .meta({ format: 'uri-reference' })
    .nullish()
    .describe('The URL to call when the run has ended.'),
  interrupt_before: NodeList.nullish().describe(
    'Nodes to stop before; in a subgraph as `team:plan`; `*` for all nodes of the root graph.',
  ),
  interrupt_after: NodeList.nullish().describe(
    'Nodes to stop after; in a subgraph as `team:plan`; `*` for all nodes of the root graph.',
  ),
  stream_mode: z
    .union([uniqueList(StreamMode), StreamMode])
    .optional()
    .describe('Which events the run emits; `values` by default.'),
  stream_subgraphs: z.boolean().nullish().describe('Whether to also emit the events of subgraphs.'),
  stream_resumable: z.boolean().nullish().describe('Whether events have ids and can be replayed later.'),
  feedback_keys: Names.nullish().describe(
    'Stored with the run. Feedback URLs come from LangSmith, which this server does not call.',
  ),
  multitask_strategy: MultitaskStrategy.nullish().describe(
    'What happens if the thread has an active run; `enqueue` by default.',
  ),
  if_not_exists: z
    .enum(['create', 'reject'])
    .nullish()
    .describe('What happens if the thread does not exist; `reject` by default.'),
  on_completion: z
    .enum(['delete', 'keep'])
    .nullish()
    .describe('Stateless runs: whether the thread is deleted when the run has ended; `delete` by default.'),
  on_disconnect: z
    .enum(['cancel', 'continue'])
    .nullish()
    .describe('What happens if the waiting client disconnects; `continue` by default.'),
  after_seconds: boundedNumber({ min: -MAX_DELAY_S, max: MAX_DELAY_S, unit: 'seconds' })
    .nullish()
    .describe('Seconds until the run may start, at most 100 years; negative means now.'),
  priority: boundedInt({ min: -100, max: 100 })
    .nullish()
    .describe(
      'Waiting runs with a higher priority are claimed first, but never before earlier runs of their thread; 0 by default.',
    ),
  checkpoint_during: z.boolean().nullish().describe('Deprecated form of `durability`: false means `exit`.'),
  durability: z
    .enum(['sync', 'async', 'exit'])
    .nullish()
    .describe(
      'When checkpoints are written: before the next step (`sync`), during it (`async`, the default), or at the end (`exit`).',
    ),
};

export const RunCreate = z.object(runFields);
export type RunCreate = z.infer<typeof RunCreate>;

const FIELDS = Object.keys(runFields);

/**
 * Batch of stateless runs (contract §2.4). The JavaScript SDK sends camelCase fields, such as `multitaskStrategy`,
 * untranslated.
 */
export const RunBatchCreate = z.array(z.preprocess(inSnakeCase, RunCreate)).min(1).max(MAX_ITEMS);
export type RunBatchCreate = z.infer<typeof RunBatchCreate>;

function inSnakeCase(item: unknown): unknown {
  if (!isObject(item)) return item;
  const aliases = FIELDS.map((field) => [field, item[camelCase(field)]]);
  return { ...Object.fromEntries(aliases.filter(([, value]) => value !== undefined)), ...item };
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The complete, merged kwargs of a run, as stored and returned (contract §2.3). */
export const RunKwargs = z.looseObject({
  input: z.unknown(),
  command: Command.nullable(),
  /** Present only if requested. */
  strict_resume: z.boolean().optional(),
  config: z.looseObject({
    tags: z.array(z.string()).optional(),
    recursion_limit: z.int().optional(),
    configurable: JsonObject,
    metadata: JsonObject.optional(),
  }),
  context: JsonObject.nullable(),
  stream_mode: z.array(StreamMode),
  interrupt_before: NodeList.nullable(),
  interrupt_after: NodeList.nullable(),
  webhook: z.string().nullable(),
  feedback_keys: z.array(z.string()).nullable(),
  /** The run created its own thread, deleted when it ends. */
  temporary: z.boolean(),
  subgraphs: z.boolean(),
  resumable: z.boolean(),
  checkpoint_during: z.boolean(),
  durability: z.enum(['sync', 'async', 'exit']),
  /** Temporary runs only. `keep_interrupted` occurs in rows from before migration 013. */
  on_completion: z.enum(['delete', 'keep', 'keep_interrupted']).optional(),
});
export type RunKwargs = z.infer<typeof RunKwargs>;

/** The graph of a run. Set by the server: it overrides a client's `graph_id`. */
export function graphIdOf({ config }: Pick<RunKwargs, 'config'>): string {
  return String(config.configurable['graph_id']);
}

export const Run = z.object({
  run_id: Uuid,
  thread_id: Uuid,
  assistant_id: Uuid,
  metadata: JsonObject,
  status: RunStatus,
  /** Returned as stored: response validation need not traverse a `RunKwargs`. */
  kwargs: JsonObject,
  multitask_strategy: MultitaskStrategy,
  created_at: Timestamp,
  updated_at: Timestamp,
  langsmith_session_name: z.string().nullable(),
  /** Present only if selected: why the run was cancelled, `null` if it was not. */
  cancel_reason: z.string().nullish(),
});
export type Run = Omit<z.infer<typeof Run>, 'kwargs'> & { kwargs: RunKwargs };

export const RunField = z.enum(Run.keyof().options);
export type RunField = z.infer<typeof RunField>;

export const CancelAction = z.enum(['interrupt', 'rollback']);
export type CancelAction = z.infer<typeof CancelAction>;

/** Any value but `rollback` means interrupt (contract §2.3). */
const action = CancelAction.catch('interrupt')
  .default('interrupt')
  .meta({ description: '`rollback` also deletes the run and its checkpoints.' });

export const RunCancelQuery = z.object({
  wait: QueryFlag.default(false).meta({ description: 'Whether to respond only once the run has stopped.' }),
  action,
  /** Ignores an unknown reason (contract §2.3). */
  reason: z
    .literal('taken')
    .optional()
    .catch(undefined)
    .meta({ description: '`taken`: another process continues the work. Shown in `cancel_reason`.' }),
});

export const RunsCancelQuery = z.object({ action });

/** Runs to cancel: all of a status, or given ones of a thread; not both (contract §2.3). */
export const RunsCancel = z
  .object({
    status: z
      .enum(['pending', 'running', 'all'])
      .optional()
      .meta({ description: 'All runs with this status, on every thread.' }),
    thread_id: Uuid.optional().meta({ description: 'The thread of the runs.' }),
    run_ids: uniqueList(Uuid, MAX_ITEMS).optional().meta({ description: 'The runs to cancel.' }),
  })
  .refine(
    ({ status, thread_id, run_ids }) =>
      status ? !thread_id && !run_ids : thread_id !== undefined && run_ids !== undefined,
    'must have either status, or thread_id and run_ids',
  );
export type RunsCancel = z.infer<typeof RunsCancel>;

export const RunListQuery = z.object({
  /** The official server has no maximum (contract §2.3). */
  limit: queryInt({ min: 1, max: MAX_INTEGER }).default(10).meta({ description: 'How many runs to return.' }),
  offset: QueryOffset.default(0).meta({ description: 'How many runs to skip.' }),
  /** An unknown status is not an error: no run has it (contract §2.3). */
  status: Name.transform((text) => text as RunStatus)
    .optional()
    .meta({ description: 'Only runs with this status.', enum: RunStatus.options }),
  select: queryList(RunField).optional().meta({ description: 'The fields to return; all by default.' }),
});

const cancel_on_disconnect = QueryFlag.default(false).meta({
  description: 'Whether to cancel the run when the client disconnects.',
});

/** Empty means the root graph, so comma-separated lists are not supported here. */
const namespace = z
  .preprocess((value) => (typeof value === 'string' ? [value] : value), uniqueList(LongPath))
  .optional()
  .meta({
    description:
      'Only events of these graphs; repeatable. Empty for the root graph, `node:<task id>` or `node` for a subgraph, `|` between levels. Deeper subgraphs are not included.',
  });

export const RunJoinQuery = z.object({ cancel_on_disconnect });

/** Query of requests that create and stream a run. */
export const NewRunStreamQuery = z.object({ namespace });

export const RunStreamQuery = z.object({
  cancel_on_disconnect,
  namespace,
  checkpoint_id: Name.optional().meta({
    description:
      'The checkpoint whose state the client shows: only events after it are sent, or all if it does not belong to the run. Resumable runs only; a received `Last-Event-ID` is more precise.',
  }),
  /** An unknown mode matches nothing (contract §5). */
  stream_mode: queryList(Name.transform((text) => text as StreamMode))
    .optional()
    .meta({ description: 'Only events of these modes, out of those the run was created with.' }),
});

export const RunStreamHeaders = z.looseObject({
  'last-event-id': z.string().optional().meta({
    description: 'The last id received: events after it are replayed. `-1` replays all. Resumable runs only.',
  }),
});

nameRequests({ RunCreate, RunBatchCreate, RunsCancel });
nameResponses({ Run });

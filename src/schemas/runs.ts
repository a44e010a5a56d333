import { z } from 'zod';
import { Config } from './assistants.ts';
import { JsonObject, Offset, QueryFlag, QueryInt, queryList, Timestamp, Uuid } from './fields.ts';
import { StreamMode } from './stream-mode.ts';
import { CheckpointConfig } from './thread-state.ts';

export const RunStatus = z.enum(['pending', 'running', 'error', 'success', 'timeout', 'interrupted']);
export type RunStatus = z.infer<typeof RunStatus>;

export const MultitaskStrategy = z.enum(['reject', 'rollback', 'interrupt', 'enqueue']);
export type MultitaskStrategy = z.infer<typeof MultitaskStrategy>;

export const Send = z.looseObject({ node: z.string(), input: z.unknown() });

export const Command = z.looseObject({
  update: z.union([JsonObject, z.array(z.unknown())]).nullish(),
  resume: z.unknown().optional(),
  goto: z.union([z.string(), Send, z.array(z.union([z.string(), Send]))]).nullish(),
});
export type Command = z.infer<typeof Command>;

const NodeList = z.union([z.literal('*'), z.array(z.string())]);

/** Everything a run is made of, on a thread or without one (CONTRACT §2.3, §2.4, §3). */
const runFields = {
  /** An assistant's id or a graph's name. */
  assistant_id: z.string(),
  input: z.unknown().optional(),
  command: Command.nullish(),
  checkpoint: CheckpointConfig.nullish(),
  checkpoint_id: z.string().nullish(),
  metadata: JsonObject.nullish(),
  config: Config.nullish(),
  context: JsonObject.nullish(),
  webhook: z.string().min(1).max(65536).meta({ format: 'uri-reference' }).nullish(),
  interrupt_before: NodeList.nullish(),
  interrupt_after: NodeList.nullish(),
  stream_mode: z.union([z.array(StreamMode), StreamMode]).optional(),
  stream_subgraphs: z.boolean().nullish(),
  stream_resumable: z.boolean().nullish(),
  feedback_keys: z.array(z.string()).nullish(),
  multitask_strategy: MultitaskStrategy.nullish(),
  if_not_exists: z.enum(['create', 'reject']).nullish(),
  on_completion: z.enum(['delete', 'keep']).nullish(),
  on_disconnect: z.enum(['cancel', 'continue']).nullish(),
  /** Seconds until the run is due; negative means now. */
  after_seconds: z.number().nullish(),
  /** Legacy form of `durability`: false means `exit`. */
  checkpoint_during: z.boolean().nullish(),
  durability: z.enum(['sync', 'async', 'exit']).nullish(),
};

export const RunCreate = z.looseObject(runFields);
export type RunCreate = z.infer<typeof RunCreate>;

/** A run's instructions, complete and merged, as they are stored and shown (CONTRACT §2.3). */
export const RunKwargs = z.looseObject({
  input: z.unknown(),
  command: Command.nullable(),
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
  /** The run made its own thread, which goes when it ends. */
  temporary: z.boolean(),
  subgraphs: z.boolean(),
  resumable: z.boolean(),
  checkpoint_during: z.boolean(),
  durability: z.enum(['sync', 'async', 'exit']),
});
export type RunKwargs = z.infer<typeof RunKwargs>;

export const Run = z.object({
  run_id: Uuid,
  thread_id: Uuid,
  assistant_id: Uuid,
  metadata: JsonObject,
  status: RunStatus,
  kwargs: JsonObject,
  multitask_strategy: MultitaskStrategy,
  created_at: Timestamp,
  updated_at: Timestamp,
  langsmith_session_name: z.string().nullable(),
});
export type Run = z.infer<typeof Run>;

export const RunField = z.enum(Run.keyof().options);

export const CancelAction = z.enum(['interrupt', 'rollback']);
export type CancelAction = z.infer<typeof CancelAction>;

export const RunCancelQuery = z.looseObject({
  wait: QueryFlag.default(false).meta({ description: 'Whether to answer only once the run has stopped.' }),
  /** Anything but `rollback` means interrupt (CONTRACT §2.3). */
  action: CancelAction.catch('interrupt')
    .default('interrupt')
    .meta({ description: '`rollback` also deletes the run and its checkpoints.' }),
});

export const RunListQuery = z.looseObject({
  limit: QueryInt.pipe(z.int().min(1)).default(10).meta({ description: 'How many runs to return.' }),
  offset: QueryInt.pipe(Offset).default(0).meta({ description: 'How many runs to skip.' }),
  /** A status that does not exist is no mistake: it has no runs (CONTRACT §2.3). */
  status: z
    .string()
    .transform((text) => text as RunStatus)
    .optional()
    .meta({ description: 'Only runs of this status.', enum: RunStatus.options }),
  select: queryList(RunField).optional().meta({ description: 'The fields to return; all without it.' }),
});

const cancel_on_disconnect = QueryFlag.default(false).meta({
  description: 'Whether to cancel the run when this request is given up.',
});

export const RunJoinQuery = z.looseObject({ cancel_on_disconnect });

export const RunStreamQuery = z.looseObject({
  cancel_on_disconnect,
  /** A mode that does not exist matches nothing (CONTRACT §5). */
  stream_mode: queryList(z.string().transform((text) => text as StreamMode))
    .optional()
    .meta({ description: 'Only events of these modes, of those the run was created with.' }),
});

export const RunStreamHeaders = z.looseObject({
  'last-event-id': z.string().optional().meta({
    description: 'The last id received: events after it are sent again. `-1` for all. Resumable runs only.',
  }),
});

import { z } from 'zod';
import { Config } from './assistants.ts';
import { Labels, MAX_ITEMS, Name, uniqueList } from './bounds.ts';
import { JsonObject, Limit, SmallObject } from './fields.ts';
import { nameRequests, nameResponses } from './named.ts';
import { MAX_INTEGER } from './numbers.ts';

/** Channels (contract §7); each `custom:<name>` is one too. */
export const CHANNELS = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'tasks',
  'custom',
  'checkpoints',
] as const;

export const ERROR_CODES = [
  'invalid_argument',
  'unknown_command',
  'unknown_error',
  'no_such_run',
  'no_such_subscription',
  'no_such_namespace',
  'no_such_interrupt',
  'no_such_checkpoint',
  'permission_denied',
  'not_supported',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** Path from the root graph to a subgraph: `[]`, `['child:<task id>']`, … */
export const Namespace = Labels;
export type Namespace = z.infer<typeof Namespace>;

/** Errors are 400 with their own messages, not 422: this only documents what the service validates. */
export const EventStreamRequest = z.object({
  channels: z
    .unknown()
    .optional()
    .meta({
      type: 'array',
      minItems: 1,
      items: { type: 'string' },
      description: `What to send: ${CHANNELS.join(', ')}, or \`custom:<name>\`.`,
    }),
  namespaces: z
    .unknown()
    .optional()
    .meta({
      type: 'array',
      items: { type: 'array', items: { type: 'string' } },
      description: 'Only events of these graphs and their subgraphs. `child` matches every `child:<id>`.',
    }),
  depth: z.unknown().optional().meta({
    type: 'integer',
    minimum: 0,
    maximum: MAX_INTEGER,
    description: 'How many levels of subgraphs; all by default.',
  }),
  since: z.unknown().optional().meta({
    type: 'integer',
    minimum: 0,
    maximum: MAX_INTEGER,
    description:
      'The `seq` of the last event received: later events are replayed. Default: all stored events.',
  }),
});
export type EventStreamRequest = z.infer<typeof EventStreamRequest>;

/** Any JSON: a bad envelope gets a protocol error. */
export const ProtocolCommand = z
  .unknown()
  .refine((body) => body !== undefined)
  .meta({
    type: 'object',
    required: ['id', 'method'],
    properties: {
      id: { type: 'integer', minimum: 0, description: 'Returned in the response.' },
      method: { type: 'string', description: 'Such as `run.start` or `input.respond`.' },
      params: { type: 'object', additionalProperties: true, description: 'The parameters of the method.' },
    },
    additionalProperties: true,
  });

const ProtocolResponseMeta = z.looseObject({
  applied_through_seq: z
    .int()
    .min(0)
    .optional()
    .describe('The newest event of the thread at the time of the response.'),
});

export const ProtocolSuccess = z.looseObject({
  type: z.literal('success'),
  id: z.int().min(0),
  result: JsonObject,
  meta: ProtocolResponseMeta.optional(),
});
export type ProtocolSuccess = z.infer<typeof ProtocolSuccess>;

export const ProtocolError = z.looseObject({
  type: z.literal('error'),
  id: z.int().min(0).nullable(),
  error: z.enum(ERROR_CODES),
  message: z.string(),
});
export type ProtocolError = z.infer<typeof ProtocolError>;

const config = Config.nullish();
const metadata = SmallObject.nullish();
const namespace = Namespace.optional();

/** Parameters of each method. Ignores unlisted fields. */
export const METHOD_PARAMS = {
  'run.start': z.looseObject({
    assistant_id: Name.min(1),
    input: z.unknown().optional(),
    config,
    metadata,
    // The SDK sends both spellings.
    multitask_strategy: z.unknown().optional(),
    multitaskStrategy: z.unknown().optional(),
  }),
  'input.respond': z.looseObject({
    interrupt_id: Name.optional(),
    response: z.unknown().optional(),
    responses: z
      .array(z.looseObject({ interrupt_id: Name, response: z.unknown().optional() }))
      .min(1)
      .max(MAX_ITEMS)
      .optional(),
    update: z.union([JsonObject, z.array(z.unknown())]).nullish(),
    goto: z.union([Name, JsonObject, z.array(z.union([Name, JsonObject])).max(MAX_ITEMS)]).nullish(),
    strict_resume: z.boolean().nullish(),
    config,
    metadata,
  }),
  'input.inject': z.looseObject({
    namespace,
    message: z.looseObject({ role: Name, content: z.unknown() }),
  }),
  'agent.getTree': z.looseObject({ run_id: z.guid().toLowerCase().optional() }),
  'state.get': z.looseObject({ namespace, keys: uniqueList(Name).optional() }),
  'state.listCheckpoints': z.looseObject({
    namespace,
    limit: Limit.optional(),
    before: Name.optional(),
  }),
  'state.fork': z.looseObject({ checkpoint_id: Name, input: z.unknown().optional(), config }),
} as const;

export type Method = keyof typeof METHOD_PARAMS;
export type Params<M extends Method> = z.infer<(typeof METHOD_PARAMS)[M]>;

nameRequests({ ProtocolCommand, ProtocolEventStreamRequest: EventStreamRequest });
nameResponses({ ProtocolSuccess, ProtocolError, ProtocolResponseMeta });

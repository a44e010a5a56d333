import { z } from 'zod';
import {
  FilterObject,
  isSmall,
  JsonObject,
  Limit,
  Offset,
  QueryFlag,
  queryInt,
  SmallObject,
  SortOrder,
  Timestamp,
  Uuid,
} from './fields.ts';
import { boundedInt, MAX_INTEGER, type Range } from './numbers.ts';

/** LangGraph's run configuration as clients send it. */
export const Config = z
  .looseObject({
    tags: z.array(z.string()).optional().describe('Kept with everything that the run does.'),
    recursion_limit: boundedInt({ min: 1, max: MAX_INTEGER, unit: 'steps' })
      .optional()
      .describe(
        'How many steps a run may take; at most `runs.max_recursion_limit` of the server, usually 10000.',
      ),
    configurable: JsonObject.optional().describe('What the graph lets one configure.'),
  })
  .refine(...isSmall);
export type Config = z.infer<typeof Config>;

export const Assistant = z.object({
  assistant_id: Uuid,
  graph_id: z.string(),
  config: Config,
  context: JsonObject,
  metadata: JsonObject,
  name: z.string(),
  description: z.string().nullable(),
  version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Assistant = z.infer<typeof Assistant>;

export const AssistantCreate = z.looseObject({
  graph_id: z.string().describe('The name of the graph.'),
  assistant_id: Uuid.optional().describe('An id of your own; a new one without it.'),
  config: Config.optional().describe('The configuration that runs of the assistant begin with.'),
  context: SmallObject.optional().describe(
    'The context that runs begin with. Not together with `configurable`.',
  ),
  metadata: SmallObject.optional().describe('Anything to find the assistant by.'),
  if_exists: z
    .enum(['raise', 'do_nothing'])
    .default('raise')
    .describe('What happens when the id is taken: 409, or the assistant that has it is returned.'),
  name: z.string().optional().describe('`Untitled` without it.'),
  description: z.string().nullish().describe('What the assistant is for.'),
});
export type AssistantCreate = z.infer<typeof AssistantCreate>;

/** `config` and `context` are replaced, `metadata` is merged shallow (CONTRACT §2.1). */
export const AssistantPatch = z.looseObject({
  graph_id: z.string().optional().describe('The name of another graph.'),
  config: Config.optional().describe('Replaces the configuration.'),
  context: SmallObject.optional().describe('Replaces the context.'),
  metadata: SmallObject.optional().describe('Merged into what is there, key by key.'),
  name: z.string().optional().describe('Another name.'),
  description: z.string().optional().describe('Another description.'),
});
export type AssistantPatch = z.infer<typeof AssistantPatch>;

export const AssistantFilter = z.looseObject({
  metadata: FilterObject.optional().describe('Only assistants whose metadata contains this.'),
  graph_id: z.string().optional().describe('Only assistants of this graph.'),
  name: z.string().optional().describe('Only assistants with this in their name, in capitals or not.'),
});
export type AssistantFilter = z.infer<typeof AssistantFilter>;

export const AssistantField = z.enum(Assistant.keyof().options);

export const AssistantSearch = AssistantFilter.extend({
  limit: Limit.default(10).describe('How many assistants to return.'),
  offset: Offset.default(0).describe('How many assistants to skip.'),
  sort_by: z
    .enum(['assistant_id', 'created_at', 'updated_at', 'name', 'graph_id'])
    .default('created_at')
    .describe('The field that orders the assistants.'),
  sort_order: SortOrder.default('desc').describe('Up or down.'),
  select: z.array(AssistantField).optional().describe('The fields to return; all without it.'),
});
export type AssistantSearch = z.infer<typeof AssistantSearch>;

export const AssistantVersionsSearch = z.looseObject({
  metadata: FilterObject.optional().describe('Only versions whose metadata contains this.'),
  limit: Limit.default(10).describe('How many versions to return.'),
  offset: Offset.default(0).describe('How many versions to skip.'),
});
export type AssistantVersionsSearch = z.infer<typeof AssistantVersionsSearch>;

/** A version of an assistant: the assistant without `updated_at` (CONTRACT §2.1). */
export const AssistantVersion = Assistant.omit({ updated_at: true });
export type AssistantVersion = z.infer<typeof AssistantVersion>;

const VERSION: Range = { min: 1, max: MAX_INTEGER };

/** The version is wanted in the body; the official document has it in the query, so both are read (CONTRACT §2.1). */
export const AssistantLatest = z.looseObject({
  version: boundedInt(VERSION).optional().describe('The version to go back to.'),
});
export type AssistantLatest = z.infer<typeof AssistantLatest>;
export const AssistantLatestQuery = z.looseObject({
  version: queryInt(VERSION).optional().describe('The version to go back to, if the body does not name it.'),
});

export const AssistantDeleteQuery = z.looseObject({
  delete_threads: QueryFlag.default(false).meta({
    description: 'Whether to delete the threads that ran the assistant too.',
  }),
});

const LEVELS: Range = { min: 1, max: 1000 };
const XRAY = `Invalid xray value: must be true, false or a whole number of levels from ${LEVELS.min} to ${LEVELS.max}`;

/** Not a `QueryFlag`: `1` is a number of levels, and `0` is none. */
const EveryLevel = z
  .enum(['true', 'True', 'false', 'False'])
  .transform((text) => text === 'true' || text === 'True')
  .meta({ type: 'boolean' });

/** True opens all levels of subgraphs, a number as many. */
export const AssistantGraphQuery = z.looseObject({
  xray: z
    .union([queryInt(LEVELS), EveryLevel], { error: XRAY })
    .default(false)
    .meta({ description: 'Whether to draw subgraphs too; a number for how many levels of them.' }),
});

export const AssistantSubgraphsQuery = z.looseObject({
  recurse: QueryFlag.default(false).meta({ description: 'Whether to include subgraphs of subgraphs.' }),
});

/** JSON Schemas of a graph; `{}` where nothing is known. */
export const GraphSchema = z.object({
  graph_id: z.string(),
  input_schema: JsonObject.nullable(),
  output_schema: JsonObject.nullable(),
  state_schema: JsonObject.nullable(),
  config_schema: JsonObject.nullable(),
  context_schema: JsonObject.nullable(),
});
export type GraphSchema = z.infer<typeof GraphSchema>;

const SHORT = 'The same under the name that the JavaScript server gives it.';

/** Under both the names that clients know: the JavaScript server leaves out `_schema`. */
export const GraphSchemaNoId = GraphSchema.omit({ graph_id: true }).extend({
  input: JsonObject.nullable().describe(SHORT),
  output: JsonObject.nullable().describe(SHORT),
  state: JsonObject.nullable().describe(SHORT),
  config: JsonObject.nullable().describe(SHORT),
});
export type GraphSchemaNoId = z.infer<typeof GraphSchemaNoId>;
/** Namespace → schemas. */
export const Subgraphs = z.record(z.string(), GraphSchemaNoId);
export type Subgraphs = z.infer<typeof Subgraphs>;

export const GraphDrawing = z.object({
  nodes: z.array(z.looseObject({ id: z.union([z.string(), z.number()]) })),
  edges: z.array(z.looseObject({ source: z.string(), target: z.string() })),
});
export type GraphDrawing = z.infer<typeof GraphDrawing>;

import { z } from 'zod';
import { JsonObject, Limit, Offset, QueryFlag, QueryInt, SortOrder, Timestamp, Uuid } from './fields.ts';

/** LangGraph's run configuration as clients send it. */
export const Config = z.looseObject({
  tags: z.array(z.string()).optional(),
  recursion_limit: z.int().min(1).optional(),
  configurable: JsonObject.optional(),
});
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
  graph_id: z.string(),
  assistant_id: Uuid.optional(),
  config: Config.optional(),
  context: JsonObject.optional(),
  metadata: JsonObject.optional(),
  if_exists: z.enum(['raise', 'do_nothing']).default('raise'),
  name: z.string().optional(),
  description: z.string().nullish(),
});
export type AssistantCreate = z.infer<typeof AssistantCreate>;

/** `config` and `context` are replaced, `metadata` is merged shallow (CONTRACT §2.1). */
export const AssistantPatch = z.looseObject({
  graph_id: z.string().optional(),
  config: Config.optional(),
  context: JsonObject.optional(),
  metadata: JsonObject.optional(),
  name: z.string().optional(),
  description: z.string().optional(),
});
export type AssistantPatch = z.infer<typeof AssistantPatch>;

export const AssistantFilter = z.looseObject({
  metadata: JsonObject.optional(),
  graph_id: z.string().optional(),
  /** Part of the name; case does not matter, `%` and `_` are literal. */
  name: z.string().optional(),
});
export type AssistantFilter = z.infer<typeof AssistantFilter>;

export const AssistantField = z.enum(Assistant.keyof().options);

export const AssistantSearch = AssistantFilter.extend({
  limit: Limit.default(10),
  offset: Offset.default(0),
  sort_by: z.enum(['assistant_id', 'created_at', 'updated_at', 'name', 'graph_id']).default('created_at'),
  sort_order: SortOrder.default('desc'),
  select: z.array(AssistantField).optional(),
});
export type AssistantSearch = z.infer<typeof AssistantSearch>;

export const AssistantVersionsSearch = z.looseObject({
  metadata: JsonObject.optional(),
  limit: Limit.default(10),
  offset: Offset.default(0),
});
export type AssistantVersionsSearch = z.infer<typeof AssistantVersionsSearch>;

/** A version of an assistant: the assistant without `updated_at` (CONTRACT §2.1). */
export const AssistantVersion = Assistant.omit({ updated_at: true });
export type AssistantVersion = z.infer<typeof AssistantVersion>;

/** The version is wanted in the body; the official document has it in the query, so both are read (CONTRACT §2.1). */
export const AssistantLatest = z.looseObject({ version: z.int().optional() });
export type AssistantLatest = z.infer<typeof AssistantLatest>;
export const AssistantLatestQuery = z.looseObject({ version: QueryInt.optional() });

export const AssistantDeleteQuery = z.looseObject({
  delete_threads: QueryFlag.default(false).meta({
    description: 'Whether to delete the threads that ran the assistant too.',
  }),
});

const XRAY = 'Invalid xray value';

/** Not a `QueryFlag`: `1` is a number of levels, and `0` is none. */
const EveryLevel = z
  .enum(['true', 'True', 'false', 'False'])
  .transform((text) => text === 'true' || text === 'True')
  .meta({ type: 'boolean' });

/** True opens all levels of subgraphs, a number as many. */
export const AssistantGraphQuery = z.looseObject({
  xray: z
    .union([QueryInt.refine((levels) => levels > 0, XRAY), EveryLevel], { error: XRAY })
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

export const GraphSchemaNoId = GraphSchema.omit({ graph_id: true });
/** Namespace → schemas. */
export const Subgraphs = z.record(z.string(), GraphSchemaNoId);
export type Subgraphs = z.infer<typeof Subgraphs>;

export const GraphDrawing = z.object({
  nodes: z.array(z.looseObject({ id: z.union([z.string(), z.number()]) })),
  edges: z.array(z.looseObject({ source: z.string(), target: z.string() })),
});
export type GraphDrawing = z.infer<typeof GraphDrawing>;

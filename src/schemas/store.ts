import { z } from 'zod';
import { Labels, LongPath, MAX_NAMES, Name, Text, uniqueList } from './bounds.ts';
import {
  FilterObject,
  ItemObject,
  JsonObject,
  Limit,
  Offset,
  QueryFlag,
  queryList,
  Timestamp,
} from './fields.ts';
import { nameRequests, nameResponses } from './named.ts';
import { boundedInt, MAX_INTEGER, TtlMinutes } from './numbers.ts';

const StoreIndexRule = z.union([z.literal(false), z.array(LongPath).max(MAX_NAMES)]);

/** Expiry of an item; a write restarts it, and so may a read. */
export const StoreExpiry = z.object({ ttl_minutes: z.number(), expires_at: Timestamp });
export type StoreExpiry = z.infer<typeof StoreExpiry>;

/** An item of the long-term store, which outlives threads (contract §2.6). */
export const StoreItem = z.object({
  /** Labels, outermost first; non-empty and without dots. */
  namespace: Labels,
  key: z.string(),
  value: JsonObject,
  created_at: Timestamp,
  updated_at: Timestamp,
  /** Present only if requested, and if the item expires. */
  ttl: StoreExpiry.optional(),
  /** What a search with `query` matches. Present only if requested, and if the item was stored with it. */
  index: StoreIndexRule.optional(),
});
export type StoreItem = z.infer<typeof StoreItem>;

/** The beginning of a value, of bounded size. */
const StorePreview = z.object({
  /** Fields of the value: whole if short, else the beginning of their text, or of their JSON as a text. */
  fields: JsonObject,
  /** Names of truncated fields. */
  cut: z.array(z.string()),
  /** How many other fields the value has. */
  omitted: z.int(),
});
export type StorePreview = z.infer<typeof StorePreview>;

export const StoreMatch = StoreItem.omit({ ttl: true, index: true }).extend({
  /** Relevance, higher is better; `null` without a query. */
  score: z.number().nullable(),
  /** Present only if a search selects it. */
  preview: StorePreview.optional(),
});
export type StoreMatch = z.infer<typeof StoreMatch>;

export const StorePut = z.object({
  namespace: Labels.describe(
    'Labels, outermost first, such as a kind and a user. Labels must not be empty or contain dots.',
  ),
  key: Name.describe('The key of the item in its namespace.'),
  value: ItemObject.describe('The value; it replaces an existing one.'),
  index: StoreIndexRule.nullish().describe(
    'What a search with `query` matches: nothing (`false`), or these paths instead of the configured ones.',
  ),
  ttl: TtlMinutes.nullish().describe(
    'Minutes until the item expires; null: never. Default: `store.ttl.default_ttl`.',
  ),
});
export type StorePut = z.infer<typeof StorePut>;

export const StoreDelete = z.object({
  namespace: Labels.default([]).describe('The namespace of the item.'),
  key: Name.describe('Its key.'),
});
export type StoreDelete = z.infer<typeof StoreDelete>;

const RefreshTtl = 'Whether a read restarts the time to live; the default is `store.ttl.refresh_on_read`.';

/** SDKs join the labels with dots; a repeated key is a list of labels (contract §2.6). */
export const StoreGetQuery = z.object({
  key: Name.optional().meta({ description: 'The key of the item.', examples: ['coffee'] }),
  namespace: z
    .preprocess(
      (given) => (given === undefined ? [] : [given].flat().flatMap((part) => String(part).split('.'))),
      Labels,
    )
    .meta({
      description: 'The namespace of the item, its labels joined with dots.',
      examples: ['memories.ada'],
    }),
  refresh_ttl: QueryFlag.optional().meta({ description: RefreshTtl }),
  include: queryList(Name).optional().meta({
    description:
      '`ttl`: also return when the item expires. `index`: also return the `index` it was stored with. Separate several with commas.',
    type: 'string',
  }),
});
export type StoreGetQuery = z.infer<typeof StoreGetQuery>;

export const StoreSearch = z.object({
  namespace_prefix: Labels.nullish().describe(
    'The first labels of the namespaces to search; all by default.',
  ),
  filter: FilterObject.nullish().describe(
    'Conditions on fields of the value: an exact value, or `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`. All must match.',
  ),
  limit: Limit.default(10).describe('How many items to return.'),
  offset: Offset.default(0).describe('How many items to skip.'),
  query: Text.nullish().describe('The text to search for; best matches first.'),
  refresh_ttl: z.boolean().nullish().describe(RefreshTtl),
  select: uniqueList(z.enum(StoreMatch.keyof().options))
    .optional()
    .describe(
      'The fields to return; by default all except `preview`, the beginning of the value in at most 3,000 bytes.',
    ),
});
export type StoreSearch = z.infer<typeof StoreSearch>;

export const StoreMatches = z.object({ items: z.array(StoreMatch) });
export type StoreMatches = z.infer<typeof StoreMatches>;

export const StoreNamespaceQuery = z.object({
  prefix: Labels.nullish().describe('Only namespaces that begin with these labels; `*` is any one label.'),
  suffix: Labels.nullish().describe('Only namespaces that end with these labels; `*` is any one label.'),
  max_depth: boundedInt({ min: 1, max: MAX_INTEGER, unit: 'labels' })
    .nullish()
    .describe('Truncates namespaces to this many labels.'),
  limit: Limit.default(100).describe('How many namespaces to return.'),
  offset: Offset.default(0).describe('How many namespaces to skip.'),
});
export type StoreNamespaceQuery = z.infer<typeof StoreNamespaceQuery>;

export const StoreNamespaces = z.object({ namespaces: z.array(Labels) });
export type StoreNamespaces = z.infer<typeof StoreNamespaces>;

nameRequests({
  StorePutRequest: StorePut,
  StoreDeleteRequest: StoreDelete,
  StoreSearchRequest: StoreSearch,
  StoreListNamespacesRequest: StoreNamespaceQuery,
});
nameResponses({
  Item: StoreItem,
  SearchItem: StoreMatch,
  SearchItemsResponse: StoreMatches,
  ListNamespaceResponse: StoreNamespaces,
});

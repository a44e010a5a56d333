import { z } from 'zod';
import { QueryLimit, QueryOffset, queryList, Uuid } from './fields.ts';

export const USAGE_KEYS = ['assistant', 'user', 'key', 'model', 'day'] as const;
export type UsageKey = (typeof USAGE_KEYS)[number];

const Name = z.string().max(1024);

export const UsageSearch = z.looseObject({
  by: queryList(z.enum(USAGE_KEYS))
    .default([])
    .meta({ description: 'Sums by these, in any combination; without it, one sum of all.' }),
  from: z.iso.date().optional().meta({ description: 'First day, in UTC. Unset: 29 days before `to`.' }),
  to: z.iso.date().optional().meta({ description: 'Last day, in UTC. Unset: today.' }),
  assistant_id: Uuid.optional().meta({ description: 'Only this assistant.' }),
  user: Name.optional().meta({ description: 'Only this user; empty: usage without a user.' }),
  key: Name.optional().meta({
    description: 'Only this API key, by its id; empty: what was used without one.',
  }),
  model: Name.optional().meta({ description: 'Only this model; empty: calls without a model name.' }),
  limit: QueryLimit.default(1000).meta({ description: 'Groups to return.' }),
  offset: QueryOffset.default(0).meta({ description: 'Groups to skip.' }),
});
export type UsageSearch = z.infer<typeof UsageSearch>;

/** Sums over calls of models. */
export const Usage = z.object({
  /** All calls, those that failed too. */
  calls: z.int(),
  /** Calls whose cost is unknown: their model has no price, or its provider reported no tokens, as of most that failed. */
  unpriced_calls: z.int(),
  tokens_in: z.int(),
  /** Part of `tokens_in` that the provider had in a cache. */
  tokens_cached: z.int(),
  tokens_out: z.int(),
  /** Without the unpriced calls. */
  cost: z.number(),
});
export type Usage = z.infer<typeof Usage>;

/** The sums of one combination; it has the keys that were asked for. */
export const UsageGroup = Usage.extend({
  assistant_id: Uuid.optional(),
  /** Empty for usage without a user. */
  user: z.string().optional(),
  /** Id of the API key; empty for what was used without one. */
  key_id: z.string().optional(),
  /** Empty if the calls do not tell it. */
  model: z.string().optional(),
  day: z.iso.date().optional(),
});
export type UsageGroup = z.infer<typeof UsageGroup>;

export const UsageReport = z.object({
  /** Of each cost. */
  currency: z.string(),
  from: z.iso.date(),
  to: z.iso.date(),
  /** In the order of the keys. */
  groups: z.array(UsageGroup),
  /** `offset` of the next page; null on the last one. */
  next: z.int().nullable(),
});
export type UsageReport = z.infer<typeof UsageReport>;

import { z } from 'zod';
import { uniqueList } from '../../schemas/bounds.ts';
import { QueryLimit, QueryOffset, queryList, Uuid } from '../../schemas/fields.ts';
import { nameRequests, nameResponses } from '../../schemas/named.ts';

export const USAGE_KEYS = ['assistant', 'user', 'key', 'model', 'day'] as const;
export type UsageKey = (typeof USAGE_KEYS)[number];

const Name = z.string().max(1024);

export const UsageSearch = z.object({
  by: queryList(z.enum(USAGE_KEYS))
    .default([])
    .meta({ description: 'What to group by, in any combination; by default one total.' }),
  from: z.iso.date().optional().meta({ description: 'First day, in UTC. Unset: 29 days before `to`.' }),
  to: z.iso.date().optional().meta({ description: 'Last day, in UTC. Unset: today.' }),
  assistant_id: Uuid.optional().meta({ description: 'Only this assistant.' }),
  user: Name.optional().meta({ description: 'Only this user; empty: usage without a user.' }),
  key: Name.optional().meta({
    description: 'Only this API key, by its id; empty: usage without a key.',
  }),
  model: Name.optional().meta({ description: 'Only this model; empty: calls without a model name.' }),
  limit: QueryLimit.default(1000).meta({ description: 'How many groups to return.' }),
  offset: QueryOffset.default(0).meta({ description: 'How many groups to skip.' }),
});
export type UsageSearch = z.infer<typeof UsageSearch>;

/** Totals over model calls. */
export const Usage = z.object({
  /** All calls, including failed ones. */
  calls: z.int(),
  /**
   * Calls of unknown cost: their model has no price, or its provider reported no tokens, as for most failed
   * calls.
   */
  unpriced_calls: z.int(),
  tokens_in: z.int(),
  /** Part of `tokens_in` that came from the provider's cache. */
  tokens_cached: z.int(),
  tokens_out: z.int(),
  /** Excludes unpriced calls. */
  cost: z.number(),
});
export type Usage = z.infer<typeof Usage>;

/** Totals of one group; has the requested keys only. */
export const UsageGroup = Usage.extend({
  assistant_id: Uuid.optional(),
  /** Empty for usage without a user. */
  user: z.string().optional(),
  /** Id of the API key; empty for usage without a key. */
  key_id: z.string().optional(),
  /** Empty if the calls do not name it. */
  model: z.string().optional(),
  day: z.iso.date().optional(),
});
export type UsageGroup = z.infer<typeof UsageGroup>;

export const UsageReport = z.object({
  /** Currency of all costs. */
  currency: z.string(),
  from: z.iso.date(),
  to: z.iso.date(),
  /** In the order of the keys. */
  groups: z.array(UsageGroup),
  /** `offset` of the next page; null on the last one. */
  next: z.int().nullable(),
});
export type UsageReport = z.infer<typeof UsageReport>;

/** Runs of one request: a page of a list. */
const MAX_RUNS = 100;

export const RunUsageSearch = z.object({
  run_ids: uniqueList(Uuid, MAX_RUNS).describe('The runs whose usage to return.'),
});
export type RunUsageSearch = z.infer<typeof RunUsageSearch>;

/** Usage of existing runs that called models. */
export const RunUsageReport = z.object({
  currency: z.string(),
  runs: z.array(Usage.extend({ run_id: Uuid })),
});
export type RunUsageReport = z.infer<typeof RunUsageReport>;

/** Usage of a thread. */
export const ThreadUsage = Usage.extend({
  currency: z.string(),
  /** Runs that called models, and still exist; of a thread with very many runs, among its newest. */
  runs: z.int(),
});
export type ThreadUsage = z.infer<typeof ThreadUsage>;

/** Limits of a budget; null: none. */
const BudgetLimits = z.object({
  max_tokens: z.number().nullable(),
  max_cost: z.number().nullable(),
  max_steps: z.number().nullable(),
});

/** What was used today of a budget that runs share. */
const BudgetUsage = BudgetLimits.extend({
  scope: z.enum(['user_day', 'key_day', 'day']),
  /** The user, or the id of the API key; empty for all runs of the server. */
  subject: z.string(),
  tokens: z.number(),
  cost: z.number(),
  steps: z.number(),
});

export const BudgetReport = z.object({
  currency: z.string(),
  /** Today, in UTC. */
  day: z.iso.date(),
  /** Limits of each run and of each thread; null if there are none. */
  run: BudgetLimits.nullable(),
  thread: BudgetLimits.nullable(),
  /** By scope, the largest usage first; at most 100 users and 100 keys. */
  budgets: z.array(BudgetUsage),
});
export type BudgetReport = z.infer<typeof BudgetReport>;

nameRequests({ RunUsageSearchRequest: RunUsageSearch });
nameResponses({ UsageReport, RunUsageReport, BudgetReport });

import type { z } from 'zod';
import { includesLevel, type RecordLevel } from '../../schemas/steps.ts';
import { group, integer, number } from '../value-types.ts';

const MAX_TOKENS = 1_000_000_000_000_000;
const MAX_COST = 1_000_000_000;
const MAX_STEPS = 1_000_000_000;

/** Limits on the usage of `whose`; an unset limit does not apply. */
export const budgetLimits = (whose: string) => ({
  max_tokens: integer(1, MAX_TOKENS, 'tokens')
    .optional()
    .describe(
      `Maximum tokens that ${whose} may read and write. Needs \`runs.record: all\`. Unset: no limit.`,
    ),
  max_cost: number(0.0001, MAX_COST, 'of `usage.currency`')
    .optional()
    .describe(
      `Maximum cost of model calls by ${whose}. Needs \`usage.prices\` and \`runs.record: all\`. Unset: no limit.`,
    ),
  max_steps: integer(1, MAX_STEPS, 'steps')
    .optional()
    .describe(`Maximum steps (supersteps of the graph) of ${whose}. Unset: no limit.`),
});

const DAY = 'on one day (UTC)';

/** Budgets that runs share; the limits of a single run are in `runs` itself. */
export const Budgets = group({
  thread: group(budgetLimits('all runs of a thread')).prefault({}),
  user_day: group(budgetLimits(`all runs of a user ${DAY}`)).prefault({}),
  key_day: group(budgetLimits(`all runs of an API key ${DAY}`)).prefault({}),
  day: group(budgetLimits(`all runs ${DAY}`)).prefault({}),
});

type Limits = z.output<typeof Budgets>['thread'];
type Runs = Limits & { readonly budgets: z.output<typeof Budgets> };

/** Limits by scope; omits scopes without limits. */
export function budgetsOf({
  max_tokens,
  max_cost,
  max_steps,
  budgets,
}: Runs): Partial<Record<Scope, Limits>> {
  const all = Object.entries({ run: { max_tokens, max_cost, max_steps }, ...budgets });
  return Object.fromEntries(
    all.filter(([, limits]) => Object.values(limits).some((limit) => limit !== undefined)),
  );
}

type Scope = 'run' | keyof z.output<typeof Budgets>;
type Prices = Readonly<Record<string, unknown>>;

/** Why a limit cannot be enforced, because the server does not count what it limits; `undefined` if it can. */
export function uncountedLimit(limit: keyof Limits, record: RecordLevel, prices: Prices): string | undefined {
  if (limit === 'max_steps') return undefined;
  if (!includesLevel(record, 'all'))
    return `needs runs.record: all, which counts tokens, instead of ${record}`;
  if (limit === 'max_cost' && Object.keys(prices).length === 0)
    return 'needs usage.prices: without prices, every call costs 0';
  return undefined;
}

/** The first limit that cannot be enforced. */
export function uncountedBudget(
  runs: Runs & { readonly record: RecordLevel },
  prices: Prices,
): { readonly path: string[]; readonly message: string } | undefined {
  for (const [scope, limits] of Object.entries(budgetsOf(runs))) {
    const at = scope === 'run' ? ['runs'] : ['runs', 'budgets', scope];
    for (const limit of ['max_tokens', 'max_cost'] as const) {
      const message = limits[limit] === undefined ? undefined : uncountedLimit(limit, runs.record, prices);
      if (message) return { path: [...at, limit], message };
    }
  }
  return undefined;
}

import type { z } from 'zod';
import { group, integer, number } from '../value-types.ts';

const MAX_TOKENS = 1_000_000_000_000_000;
const MAX_COST = 1_000_000_000;
const MAX_STEPS = 1_000_000_000;

/** Limits of what `whose` use; unset ones do not apply. */
export const budgetLimits = (whose: string) => ({
  max_tokens: integer(1, MAX_TOKENS, 'tokens')
    .optional()
    .describe(`Tokens that ${whose} may read and write. Needs \`runs.record: all\`. Unset: no limit.`),
  max_cost: number(0.0001, MAX_COST, 'of `usage.currency`')
    .optional()
    .describe(
      `Cost of the calls of models by ${whose}. Needs \`usage.prices\` and \`runs.record: all\`. Unset: no limit.`,
    ),
  max_steps: integer(1, MAX_STEPS, 'steps')
    .optional()
    .describe(`Steps (supersteps of the graph) that ${whose} may take. Unset: no limit.`),
});

const DAY = 'on one day (UTC)';

/** Budgets that runs share; that of a single run is beside its time-out. */
export const Budgets = group({
  thread: group(budgetLimits('all runs of a thread')).prefault({}),
  user_day: group(budgetLimits(`all runs of a user ${DAY}`)).prefault({}),
  key_day: group(budgetLimits(`all runs of an API key ${DAY}`)).prefault({}),
  day: group(budgetLimits(`all runs ${DAY}`)).prefault({}),
});

type Limits = z.output<typeof Budgets>['thread'];
type Runs = Limits & { readonly budgets: z.output<typeof Budgets> };

/** By scope, without those that limit nothing; `undefined` if there are none. */
export function budgetsOf({ max_tokens, max_cost, max_steps, budgets }: Runs) {
  const all = Object.entries({ run: { max_tokens, max_cost, max_steps }, ...budgets });
  const given = all.filter(([, limits]) => Object.values(limits).some((limit) => limit !== undefined));
  return given.length === 0 ? undefined : (Object.fromEntries(given) as Partial<Record<Scope, Limits>>);
}

type Scope = 'run' | keyof z.output<typeof Budgets>;

/** A limit that could never be reached, as nothing would count what it limits. */
export function uncountedBudget(
  runs: Runs & { readonly record: string },
  prices: Readonly<Record<string, unknown>>,
): { readonly path: string[]; readonly message: string } | undefined {
  for (const [scope, limits] of Object.entries(budgetsOf(runs) ?? {})) {
    const at = scope === 'run' ? ['runs'] : ['runs', 'budgets', scope];
    const counted = ['max_tokens', 'max_cost'] as const;
    const limit = counted.find((name) => limits[name] !== undefined);
    if (limit && runs.record !== 'all') {
      const message = `needs runs.record: all, which counts tokens; it is ${runs.record}`;
      return { path: [...at, limit], message };
    }
    if (limits.max_cost !== undefined && Object.keys(prices).length === 0)
      return {
        path: [...at, 'max_cost'],
        message: 'needs usage.prices: without them, nothing costs anything',
      };
  }
  return undefined;
}

import type { z } from 'zod';
import type { ConfigProblem, ConfigValues } from '../../config/schema.ts';
import { sectionOf } from '../../config/section.ts';
import { group, integer, number, oneOf } from '../../config/value-types.ts';
import { includesLevel, type RecordLevel } from '../../schemas/steps.ts';
import { USAGE } from './price-settings.ts';

const MAX_TOKENS = 1_000_000_000_000_000;
const MAX_COST = 1_000_000_000;
const MAX_STEPS = 1_000_000_000;

/** Limits on the usage of `whose`; an unset limit does not apply. */
const budgetLimits = (whose: string) => ({
  max_tokens: integer(1, MAX_TOKENS, 'tokens')
    .optional()
    .describe(
      `Maximum tokens that ${whose} may read and write. Needs \`runs.record: all\` or \`contents\`. Unset: no limit.`,
    ),
  max_cost: number(0.0001, MAX_COST, 'of `usage.currency`')
    .optional()
    .describe(
      `Maximum cost of model calls by ${whose}. Needs \`usage.prices\`, and \`runs.record: all\` or \`contents\`. Unset: no limit.`,
    ),
  max_steps: integer(1, MAX_STEPS, 'steps')
    .optional()
    .describe(`Maximum steps (supersteps of the graph) of ${whose}. Unset: no limit.`),
});

const DAY = 'on one day (UTC)';

/** Budgets that runs share; the limits of a single run are in `runs` itself. */
const Budgets = group({
  thread: group(budgetLimits('all runs of a thread')).prefault({}),
  user_day: group(budgetLimits(`all runs of a user ${DAY}`)).prefault({}),
  key_day: group(budgetLimits(`all runs of an API key ${DAY}`)).prefault({}),
  day: group(budgetLimits(`all runs ${DAY}`)).prefault({}),
});

const OF_A_RUN = budgetLimits('a run in all its attempts');
const MAX_TOKENS_OF_RUN = { path: 'runs.max_tokens', schema: OF_A_RUN.max_tokens };
const MAX_COST_OF_RUN = { path: 'runs.max_cost', schema: OF_A_RUN.max_cost };
const MAX_STEPS_OF_RUN = { path: 'runs.max_steps', schema: OF_A_RUN.max_steps };
const BUDGETS = { path: 'runs.budgets', schema: Budgets.prefault({}) };
const ON_BUDGET = {
  path: 'runs.on_budget',
  schema: oneOf(['error', 'interrupt'])
    .default('error')
    .describe(
      'What happens to a run that reaches a budget, after the step that reached it. `error`: it ends with an error; `interrupt`: its thread is interrupted to ask a person, and a new run with the answer continues. See [usage](usage.md#budgets).',
    ),
};

export const BUDGET_SECTIONS = [MAX_TOKENS_OF_RUN, MAX_COST_OF_RUN, MAX_STEPS_OF_RUN, BUDGETS, ON_BUDGET];

type Shared = z.output<typeof Budgets>;
type Limits = Shared['thread'];

/** Limits by scope, without scopes that are not limited, and what happens to a run that reaches one. */
export function budgetSettings(config: object) {
  const run: Limits = {
    max_tokens: sectionOf(config, MAX_TOKENS_OF_RUN),
    max_cost: sectionOf(config, MAX_COST_OF_RUN),
    max_steps: sectionOf(config, MAX_STEPS_OF_RUN),
  };
  const all = Object.entries({ run, ...sectionOf(config, BUDGETS) });
  const limited = all.filter(([, limits]) => Object.values(limits).some((limit) => limit !== undefined));
  const budgets: Partial<Record<'run' | keyof Shared, Limits>> = Object.fromEntries(limited);
  return { budgets, on_budget: sectionOf(config, ON_BUDGET) };
}

type Prices = Readonly<Record<string, unknown>>;

/** Why a limit cannot be enforced, because the server does not count what it limits; `undefined` if it can. */
export function uncountedLimit(limit: keyof Limits, record: RecordLevel, prices: Prices): string | undefined {
  if (limit === 'max_steps') return undefined;
  if (!includesLevel(record, 'all'))
    return `needs runs.record: all or contents, which count tokens, instead of ${record}`;
  if (limit === 'max_cost' && Object.keys(prices).length === 0)
    return 'needs usage.prices: without prices, every call costs 0';
  return undefined;
}

/** The first limit that cannot be enforced. */
export function budgetProblems(config: ConfigValues): ConfigProblem[] {
  const { prices } = sectionOf(config, USAGE);
  for (const [scope, limits] of Object.entries(budgetSettings(config).budgets)) {
    const at = scope === 'run' ? ['runs'] : ['runs', 'budgets', scope];
    for (const limit of ['max_tokens', 'max_cost'] as const) {
      const message =
        limits[limit] === undefined ? undefined : uncountedLimit(limit, config.runs.record, prices);
      if (message) return [{ path: [...at, limit], message }];
    }
  }
  return [];
}

import { RunBudget } from '../../schemas/run-budget.ts';

type LooseConfig = Readonly<Record<string, unknown>> | null | undefined;

const LIMITS = Object.keys(RunBudget.shape) as (keyof RunBudget)[];

/** The budget in a run configuration; `undefined` if there is none that is valid. */
export function budgetOf(config: LooseConfig): RunBudget | undefined {
  const budget = config?.['budget'];
  return budget === undefined ? undefined : RunBudget.safeParse(budget).data;
}

/**
 * The lower value of each limit, as part of a run configuration; `{}` if neither configuration has a budget.
 */
export function lowerBudget(assistant: LooseConfig, request: LooseConfig): { readonly budget?: RunBudget } {
  const [one, other] = [budgetOf(assistant), budgetOf(request)];
  if (!one && !other) return {};
  const budget = { ...one };
  for (const [limit, max] of limitsOf(other)) budget[limit] = Math.min(max, budget[limit] ?? max);
  return { budget };
}

export function limitsOf(budget: RunBudget = {}): [keyof RunBudget, number][] {
  return LIMITS.flatMap((limit) => {
    const max = budget[limit];
    return max === undefined ? [] : [[limit, max] as [keyof RunBudget, number]];
  });
}

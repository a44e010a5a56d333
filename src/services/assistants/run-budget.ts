import { InvalidInput } from '../../core/errors.ts';
import { RunBudget } from '../../schemas/run-budget.ts';

/** Rules for the budget that a run sets for itself. */
export interface RunBudgetRules {
  /** The server's own limits per run. */
  readonly max_budget: RunBudget;
  /**
   * Why a limit cannot be enforced, because the server does not count what it limits; `undefined` if it can.
   */
  readonly uncounted: (limit: keyof RunBudget) => string | undefined;
}

type LooseConfig = Readonly<Record<string, unknown>> | null | undefined;

const LIMITS = Object.keys(RunBudget.shape) as (keyof RunBudget)[];

/** The budget in a run configuration; `undefined` if there is none that is valid. */
export function budgetOf(config: LooseConfig): RunBudget | undefined {
  const budget = config?.['budget'];
  return budget === undefined ? undefined : RunBudget.safeParse(budget).data;
}

/** Throws `InvalidInput` for a limit above the server's, and for one that the server cannot enforce. */
export function checkBudget({ max_budget, uncounted }: RunBudgetRules, config: LooseConfig): void {
  for (const [limit, asked] of limitsOf(budgetOf(config))) {
    const max = max_budget[limit];
    if (max !== undefined && asked > max)
      throw new InvalidInput(`config.budget.${limit}: must be at most ${max}, the server's runs.${limit}`);
    const reason = uncounted(limit);
    if (reason) throw new InvalidInput(`config.budget.${limit}: ${reason}`);
  }
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

function limitsOf(budget: RunBudget = {}): [keyof RunBudget, number][] {
  return LIMITS.flatMap((limit) => {
    const max = budget[limit];
    return max === undefined ? [] : [[limit, max] as [keyof RunBudget, number]];
  });
}

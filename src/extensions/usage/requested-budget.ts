import { InvalidInput } from '../../core/errors.ts';
import type { RunBudget } from '../../schemas/run-budget.ts';
import { budgetOf, limitsOf } from '../../services/assistants/run-budget.ts';

/** Rules for the budget that a run sets for itself. */
export interface RequestedBudgetRules {
  /** The server's own limits per run. */
  readonly max_budget: RunBudget;
  /**
   * Why a limit cannot be enforced, because the server does not count what it limits; `undefined` if it can.
   */
  readonly uncounted: (limit: keyof RunBudget) => string | undefined;
}

/** The error for a limit above the server's, and for one that the server cannot enforce. */
export function requestedBudgetError(
  { max_budget, uncounted }: RequestedBudgetRules,
  config: Readonly<Record<string, unknown>>,
): InvalidInput | undefined {
  for (const [limit, asked] of limitsOf(budgetOf(config))) {
    const max = max_budget[limit];
    if (max !== undefined && asked > max)
      return new InvalidInput(`config.budget.${limit}: must be at most ${max}, the server's runs.${limit}`);
    const reason = uncounted(limit);
    if (reason) return new InvalidInput(`config.budget.${limit}: ${reason}`);
  }
  return undefined;
}

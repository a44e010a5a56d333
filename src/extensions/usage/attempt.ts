import type { Clock } from '../../core/clock.ts';
import type { ClaimedRun } from '../../storage/queue/claim.ts';
import type { AttemptObserver } from '../../workers/attempt-observer.ts';
import { accountOf, type UsageCargo } from './account.ts';
import type { BudgetDeps } from './budgets.ts';
import type { CostOf } from './prices.ts';
import { openBudget } from './run-budget.ts';
import type { BudgetsUsed } from './storage/budgets.ts';

interface UsageAttemptDeps {
  readonly clock: Clock;
  readonly costOf: CostOf;
  readonly budget: BudgetDeps;
}

/** What an attempt uses: its rider charges it with each batch, and its budgets may stop it. */
export function usageAttempt(
  { clock, costOf, budget }: UsageAttemptDeps,
  claimed: ClaimedRun,
): AttemptObserver {
  const account = accountOf(claimed);
  const limit = openBudget(budget, claimed, account, () => clock.now());
  return {
    name: 'usage',
    costOf,
    stepEnded: (step) => limit?.meter.addStep(step),
    cargo: (): UsageCargo => ({ account, budget: limit?.meter.charge() }),
    committed: (used) => {
      if (used) limit?.meter.charged(used as BudgetsUsed);
    },
    limit,
  };
}

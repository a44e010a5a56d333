import { sectionOf } from '../../config/section.ts';
import type { Contribution, Core } from '../extension.ts';
import { usageAttempt } from './attempt.ts';
import { budgetSettings, uncountedLimit } from './budget-settings.ts';
import { measureCost } from './metrics.ts';
import { USAGE } from './price-settings.ts';
import { pricing } from './prices.ts';
import { usageRider } from './rider.ts';
import { usageRoutes } from './routes.ts';
import { usageService } from './service.ts';
import { budgetRepository } from './storage/budgets.ts';
import { dayOf } from './storage/charges.ts';
import { usageRepository } from './storage/reports.ts';
import { runUsageRepository } from './storage/runs.ts';

const DAY_MS = 86_400_000;

/** Prices and charges what attempts use, reports it, and keeps runs within their budgets. */
export function openUsage({ config, clock, storage }: Core): Contribution {
  const { runs, http } = config;
  const { db, background } = storage.database;
  const [usage, budgets] = [usageRepository(background), budgetRepository(background)];
  const { currency, prices } = sectionOf(config, USAGE);
  const rules = { ...budgetSettings(config), currency };
  const requested = {
    max_budget: rules.budgets.run ?? {},
    uncounted: (limit: Parameters<typeof uncountedLimit>[0]) => uncountedLimit(limit, runs.record, prices),
  };
  const attempts = { clock, costOf: pricing(prices), budget: { ...rules, used: budgets.used } };
  const service = usageService({
    usage: usageRepository(db),
    runs: runUsageRepository(db),
    budgets: budgetRepository(db),
    limits: rules.budgets,
    clock,
    currency,
  });
  return {
    rider: usageRider({ ...rules, requested, clock }),
    attempt: (claimed) => usageAttempt(attempts, claimed),
    metrics: measureCost,
    routes: http.disable_runs ? [] : [(server) => usageRoutes(server, service)],
    sweeps: [
      (limit) => usage.rollUp(limit),
      (limit) => budgets.deleteDaysBefore(dayOf(clock.now() - DAY_MS), limit),
      (limit) => budgets.deleteEndedRuns(limit),
    ],
  };
}

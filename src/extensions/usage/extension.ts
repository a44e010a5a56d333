import type { Extension } from '../extension.ts';
import { BUDGET_SECTIONS, budgetProblems, budgetSettings } from './budget-settings.ts';
import { DATA } from './migrations.ts';
import { USAGE } from './price-settings.ts';

export const usage: Extension = {
  name: 'usage',
  sections: [USAGE, ...BUDGET_SECTIONS],
  checkTogether: budgetProblems,
  // Without budgets it counts what is recorded.
  isEnabled: (config) =>
    config.runs.record !== 'off' || Object.keys(budgetSettings(config).budgets).length > 0,
  offAnswer: (path) =>
    path === '/usage'
      ? { detail: 'This server does not count usage, because runs.record is off.' }
      : undefined,
  data: DATA,
  async load() {
    const { openUsage } = await import('./contribution.ts');
    return openUsage;
  },
};

import { isServerInterrupt, serverInterruptId } from '../../core/interrupt-ids.ts';
import { isObject } from '../../core/json.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import { type BudgetRules, budgetKey, budgetReason, type ExhaustedBudget } from './budgets.ts';

/**
 * The interrupt that asks a person after a budget has stopped a run. Only the thread holds it, under the next
 * task: to the graph the stop is a breakpoint, and it never sees the answer.
 */
export function budgetInterrupts(
  run_id: string,
  exhausted: ExhaustedBudget,
  state: ThreadState,
  rules: Omit<BudgetRules, 'budgets'>,
): Record<string, Interrupt[]> {
  const { scope, max, used } = exhausted;
  const message = budgetReason(exhausted, rules);
  const value = { type: 'budget', run_id, budget: scope, limit: budgetKey(exhausted), max, used, message };
  return { [state.tasks[0]?.id ?? run_id]: [{ id: serverInterruptId('budget', run_id), value }] };
}

/** At such an interrupt, the thread asks whether its runs may use as much again. */
export function isThreadBudgetInterrupt({ id, value }: Interrupt): boolean {
  return (
    isServerInterrupt(id) && isObject(value) && value['type'] === 'budget' && value['budget'] === 'thread'
  );
}

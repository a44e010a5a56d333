import type { RunCreate } from '../../schemas/runs.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import type { Interrupt, Thread } from '../../schemas/threads.ts';
import { budgetInterruptId, isBudgetInterrupt, isThreadBudgetInterrupt } from '../../storage/runs/budgets.ts';
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
  return { [state.tasks[0]?.id ?? run_id]: [{ id: budgetInterruptId(run_id), value }] };
}

/** The budget's message in the thread's interrupts, if a budget stopped the run and nothing has run since. */
export function budgetStop(
  run_id: string,
  thread: Pick<Thread, 'interrupts'> | undefined,
): string | undefined {
  const id = budgetInterruptId(run_id);
  const interrupt = Object.values(thread?.interrupts ?? {})
    .flat()
    .find((each) => each.id === id);
  return interrupt && String((interrupt.value as { message?: unknown }).message);
}

/** Whether the thread waits for an answer about its own budget. */
export function waitsForThreadBudget({ interrupts = {} }: Pick<Thread, 'interrupts'> = {}): boolean {
  return Object.values(interrupts).flat().some(isThreadBudgetInterrupt);
}

/** Drops a `resume` that only answers a budget: any answer continues the run, and the graph must not see it. */
export function withoutBudgetAnswer(
  input: RunCreate,
  { interrupts = {} }: Pick<Thread, 'interrupts'>,
): RunCreate {
  const pending = Object.values(interrupts).flat();
  if (pending.length === 0 || !pending.every(({ id }) => isBudgetInterrupt(id))) return input;
  const { command } = input;
  const { resume, ...more } = command ?? {};
  if (resume === undefined || resume === null) return input;
  const isOnlyAnswer = Object.values(more).every((value) => value === undefined || value === null);
  return { ...input, command: isOnlyAnswer ? null : more };
}

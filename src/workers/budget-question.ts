import { isObject } from '../core/json.ts';
import type { ThreadState } from '../schemas/thread-state.ts';
import type { Interrupt } from '../schemas/threads.ts';
import { budgetInterrupts } from '../services/runs/budget-interrupts.ts';
import type { ExhaustedBudget } from '../services/runs/budgets.ts';
import type { Attempt, AttemptContext } from './attempt.ts';

/**
 * What a person is asked because of a budget, by task. The stream of the run says so as that of a graph that interrupts
 * does.
 */
export function askPerson(
  { budget }: AttemptContext,
  { claimed, kwargs, writer }: Attempt,
  { exhausted, state }: { exhausted: ExhaustedBudget; state: ThreadState },
): Record<string, Interrupt[]> {
  const asked = budgetInterrupts(claimed.run.run_id, exhausted, state, budget?.currency ?? '');
  const __interrupt__ = Object.values(asked).flat();
  if (kwargs.stream_mode.includes('updates')) writer.write('updates', { __interrupt__ });
  if (kwargs.stream_mode.includes('values')) {
    const values = isObject(state.values) ? state.values : {};
    writer.write('values', { ...values, __interrupt__ });
  }
  return asked;
}

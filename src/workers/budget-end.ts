import { publicFailure } from '../core/failure.ts';
import { isObject } from '../core/json.ts';
import type { ThreadState } from '../schemas/thread-state.ts';
import type { Interrupt } from '../schemas/threads.ts';
import { budgetInterrupts } from '../services/runs/budget-interrupts.ts';
import type { ExhaustedBudget } from '../services/runs/budgets.ts';
import type { Attempt, AttemptContext, EndOutcome } from './attempt.ts';

/** A run whose budget is used up, and whose graph has more to do. Whatever else stops it comes first. */
export function budgetOutcome(
  { budget }: AttemptContext,
  attempt: Attempt,
  signal: AbortSignal,
): EndOutcome | undefined {
  const exceeded = signal.aborted ? undefined : attempt.budget?.endOf(attempt.failure);
  if (!exceeded) return undefined;
  attempt.failure = exceeded;
  // A run that waits for an answer ends as at an interrupt of its graph.
  if (budget?.on_budget === 'interrupt')
    return { kind: 'end', status: 'success', error: null, exhausted: exceeded.exhausted };
  return { kind: 'end', status: 'error', error: publicFailure(exceeded) };
}

/** No person is asked about a run whose state cannot be read: it could not resume. */
export function withoutState(outcome: EndOutcome, { failure }: Attempt): EndOutcome {
  return outcome.exhausted ? { kind: 'end', status: 'error', error: publicFailure(failure) } : outcome;
}

const NO_CURRENCY = { currency: '', on_budget: 'interrupt' } as const;

/**
 * What a person is asked because of a budget, by task. The stream of the run says so as that of a graph that interrupts
 * does.
 */
export function askPerson(
  { budget }: AttemptContext,
  { claimed, kwargs, writer }: Attempt,
  { exhausted, state }: { exhausted: ExhaustedBudget; state: ThreadState },
): Record<string, Interrupt[]> {
  const asked = budgetInterrupts(claimed.run.run_id, exhausted, state, budget ?? NO_CURRENCY);
  const __interrupt__ = Object.values(asked).flat();
  if (kwargs.stream_mode.includes('updates')) writer.write('updates', { __interrupt__ });
  if (kwargs.stream_mode.includes('values')) {
    const values = isObject(state.values) ? state.values : {};
    writer.write('values', { ...values, __interrupt__ });
  }
  return asked;
}

import { HostLost, LeaseLost } from '../core/errors.ts';
import { publicFailure } from '../core/failure.ts';
import { isObject } from '../core/json.ts';
import type { RunStatus } from '../schemas/runs.ts';
import type { ThreadState } from '../schemas/thread-state.ts';
import type { Interrupt, RunError } from '../schemas/threads.ts';
import { budgetInterrupts } from '../services/runs/budget-interrupts.ts';
import type { ExhaustedBudget } from '../services/runs/budgets.ts';
import { type Attempt, type AttemptContext, isStorageUnavailable, StopReason } from './attempt.ts';

type EndStatus = Exclude<RunStatus, 'pending' | 'running'>;

/** What becomes of a run whose attempt is over. */
export type Outcome =
  | { readonly kind: 'lost' }
  | {
      readonly kind: 'release';
      readonly charge: boolean;
      readonly host_ended?: true;
      readonly lease_ended?: true;
    }
  | EndOutcome;

/** The run has ended. */
export interface EndOutcome {
  readonly kind: 'end';
  readonly status: EndStatus;
  readonly error: RunError | null;
  /** The run waits for a person because of a budget. */
  readonly exhausted?: ExhaustedBudget;
}

/** Of an attempt that threw `attempt.failure`, or was stopped by `signal`; the failure is replaced if a budget caused it. */
export function outcomeOf(deps: AttemptContext, attempt: Attempt, signal: AbortSignal): Outcome {
  return budgetOutcome(deps, attempt, signal) ?? stopOrFailure(attempt.failure, signal);
}

function stopOrFailure(failure: unknown, signal: AbortSignal): Outcome {
  const cause = signal.aborted ? signal.reason : failure;
  if (cause instanceof LeaseLost) return { kind: 'lost' };
  if (cause instanceof StopReason) return outcomeOfStop(cause);
  if (cause instanceof HostLost) return { kind: 'release', charge: cause.charge, host_ended: true };
  if (isStorageUnavailable(cause)) return { kind: 'release', charge: true };
  if (cause !== undefined) return { kind: 'end', status: 'error', error: publicFailure(cause) };
  return { kind: 'end', status: 'success', error: null };
}

/** A run whose budget is used up, and whose graph has more to do. Whatever else stops it comes first. */
function budgetOutcome(
  { budget }: AttemptContext,
  attempt: Attempt,
  signal: AbortSignal,
): Outcome | undefined {
  const exceeded = signal.aborted ? undefined : attempt.budget?.endOf(attempt.failure);
  if (!exceeded) return undefined;
  attempt.failure = exceeded;
  // A run that waits for an answer ends as at an interrupt of its graph.
  if (budget?.on_budget === 'interrupt')
    return { kind: 'end', status: 'success', error: null, exhausted: exceeded.exhausted };
  return { kind: 'end', status: 'error', error: publicFailure(exceeded) };
}

function outcomeOfStop({ kind, detail }: StopReason): Outcome {
  switch (kind) {
    case 'lease lost':
      return { kind: 'lost' };
    case 'shutdown':
      return { kind: 'release', charge: false };
    // By this process's clock: nobody may have taken the run yet.
    case 'lease ended':
      return { kind: 'release', charge: false, lease_ended: true };
    case 'timeout':
      return { kind: 'end', status: 'timeout', error: detail };
    case 'cancelled':
      return { kind: 'end', status: 'interrupted', error: detail };
  }
}

/** Nobody is asked about a run whose state cannot be read: nothing could go on from it. */
export function withoutState(outcome: EndOutcome, { failure }: Attempt): EndOutcome {
  return outcome.exhausted ? { kind: 'end', status: 'error', error: publicFailure(failure) } : outcome;
}

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

import { publicFailure } from '../core/failure.ts';
import { isObject } from '../core/json.ts';
import type { ThreadState } from '../schemas/thread-state.ts';
import type { Interrupt } from '../schemas/threads.ts';
import type { Attempt, EndOutcome } from './attempt.ts';
import type { Stop } from './attempt-observer.ts';

/** A run that a limit stopped while its graph had more to do. Whatever else stops it comes first. */
export function stoppedOutcome(attempt: Attempt, signal: AbortSignal): EndOutcome | undefined {
  const stop = signal.aborted ? undefined : attempt.observer?.limit?.stopOf(attempt.failure);
  if (!stop) return undefined;
  attempt.stop = stop;
  attempt.failure = stop.error;
  // A run that waits for an answer ends as at an interrupt of its graph.
  if (stop.ask) return { kind: 'end', status: 'success', error: null, ask: stop.ask };
  return { kind: 'end', status: 'error', error: publicFailure(stop.error) };
}

/** No person is asked about a run whose state cannot be read: it could not resume. */
export function withoutState(outcome: EndOutcome, { failure }: Attempt): EndOutcome {
  return outcome.ask ? { kind: 'end', status: 'error', error: publicFailure(failure) } : outcome;
}

/** What a person is asked, by task. The stream of the run shows it as it does that of a graph that interrupts. */
export function askPerson(
  { kwargs, writer }: Attempt,
  { ask, state }: { ask: NonNullable<Stop['ask']>; state: ThreadState },
): Record<string, Interrupt[]> {
  const asked = ask(state);
  const __interrupt__ = Object.values(asked).flat();
  if (kwargs.stream_mode.includes('updates')) writer.write('updates', { __interrupt__ });
  if (kwargs.stream_mode.includes('values')) {
    const values = isObject(state.values) ? state.values : {};
    writer.write('values', { ...values, __interrupt__ });
  }
  return asked;
}

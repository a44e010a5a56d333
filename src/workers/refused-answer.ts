import type { ThreadState } from '../schemas/thread-state.ts';
import { interruptIds, interruptsOf } from '../services/runs/transitions.ts';
import type { EndOutcome } from './attempt.ts';

/** Names the questions that still wait in the error of an answer that a schema refused: only the state has them. */
export function withPendingIds(outcome: EndOutcome, state: ThreadState): EndOutcome {
  const { error } = outcome;
  if (error?.reason !== 'invalid') return outcome;
  const ids = interruptIds(interruptsOf(state)).flatMap((id) => id ?? []);
  return { ...outcome, error: { ...error, pending_ids: [...new Set(ids)].toSorted() } };
}

import { type Backoff, backoffMs, systemRandom } from '../../../core/backoff.ts';
import { failureClass } from '../../../core/failure-class.ts';
import { sleep } from '../../../core/timers.ts';

const BACKOFF: Backoff = { first_ms: 100, longest_ms: 10_000 };
/** Attempts of a decision that fails although the database answers. */
const MAX_FAILURES = 4;

/**
 * Retries a decision until the database has answered, or the signal aborts: a failed attempt may have committed, and
 * this process would then serve another revision than the database names.
 */
export async function askAgain<T>(decide: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await decide();
    } catch (error) {
      if (signal.aborted || (failures >= MAX_FAILURES && !isUnanswered(error))) throw error;
    }
    await sleep(backoffMs(failures, BACKOFF, systemRandom), signal);
  }
}

function isUnanswered(error: unknown): boolean {
  const failure = failureClass(error);
  return failure === 'storage away' || failure === 'storage busy';
}

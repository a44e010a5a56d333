import { sleep } from '../../core/timers.ts';

/** Requests wait meanwhile, ms. */
const AGAIN_MS = [100, 1000, 5000];

/**
 * Asks the database which revision serves until it answers, at most four times: a failure may hide that it was committed,
 * and what serves would be another revision than the database says. Rejects at once if the signal aborts.
 */
export async function askAgain<T>(decide: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const pause_ms of AGAIN_MS) {
    try {
      return await decide();
    } catch {
      await sleep(pause_ms, signal);
    }
  }
  return await decide();
}

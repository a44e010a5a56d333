import { sleep } from '../../core/timers.ts';

/** Pauses between attempts, ms; requests wait meanwhile. */
const AGAIN_MS = [100, 1000, 5000];

/**
 * Retries a decision in the database up to three times: a failed attempt may have committed, and this process
 * would then serve another revision than the database names. Stops waiting when the signal aborts.
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

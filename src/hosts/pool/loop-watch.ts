import { Unavailable } from '../../core/errors.ts';
import { sleep } from '../../core/timers.ts';

/** How long the event loop of a host may be blocked while a request waits for the beginning of its response, ms. */
export const MAX_BLOCKED_MS = 10_000;
/** The host itself is asked every second. */
const CHECK_MS = 500;

/** Throws `Unavailable` as soon as the event loop has been blocked for `max_ms`; returns when the signal aborts. */
export async function watchLoop(
  loop: { readonly blocked_ms: number },
  max_ms: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if (loop.blocked_ms >= max_ms) {
      throw new Unavailable(
        `The graph host that serves custom routes is blocked: its event loop has not responded for ${max_ms / 1000} s. Try again later.`,
      );
    }
    await sleep(CHECK_MS, signal);
  }
}

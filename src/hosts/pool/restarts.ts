import type { Logger } from '../../core/logger.ts';
import { after, type Timer } from '../../core/timers.ts';
import { GraphLoadError } from '../../graphs/project/load-error.ts';

/** Ends in a row, within the time, after which a host is not started again at once. */
const MAX_ENDS = 3;
const ENDS_MS = 30_000;
/** Delay before a host that keeps ending, or could not be started, is started again, ms. */
const RESTART_DELAY_MS = 10_000;
const SECONDS = RESTART_DELAY_MS / 1000;

/**
 * When processes ended lately, the newest now. Monotonic, ms. While none has loaded the project, all count: it may take long
 * before it ends them.
 */
export function recentEnds(before: readonly number[], now: number, hasLoaded: boolean): number[] {
  return [...before.filter((at) => !hasLoaded || at > now - ENDS_MS), now];
}

export function keepsEnding(ends: readonly number[]): boolean {
  return ends.length >= MAX_ENDS;
}

/** Hosts, by number, that are started again after the delay. */
export class DelayedStarts {
  readonly #timers = new Map<number, Timer>();

  add(number: number, start: () => void): void {
    this.#timers.get(number)?.[Symbol.dispose]();
    const timer = after(RESTART_DELAY_MS, () => {
      this.#timers.delete(number);
      start();
    });
    this.#timers.set(number, timer.unref());
  }

  get isWaiting(): boolean {
    return this.#timers.size > 0;
  }

  cancel(): void {
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    this.#timers.clear();
  }
}

export function logNotStarted(logger: Logger, host: number, error: unknown): void {
  logger.error(`cannot start a graph host, retrying in ${SECONDS} s`, { host, error });
}

/** Logs that no host could load the project. Returns the error of requests for its graphs. */
export function notLoaded(logger: Logger, reason: string): GraphLoadError {
  const times = `${MAX_ENDS} times`;
  const what = `graph hosts ended ${times} while they loaded the project, retrying every ${SECONDS} s`;
  logger.error(what, { reason });
  return new GraphLoadError(`The graphs failed to load: their process ended ${times}; see the server log.`);
}

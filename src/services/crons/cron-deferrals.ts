import { type Backoff, backoffMs } from '../../core/backoff.ts';
import { type Clock, timestamp } from '../../core/clock.ts';

/** Each attempt may leave a call in a graph host that never returns. */
const BACKOFF: Backoff = { first_ms: 5_000, longest_ms: 5 * 60_000 };

interface Deferral {
  readonly failures: number;
  readonly reason: string;
  /** Monotonic, ms. */
  readonly until: number;
}

/** Due crons whose access rules did not answer; this process retries them with backoff. */
export class CronDeferrals {
  readonly #clock: Clock;
  readonly #deferred = new Map<string, Deferral>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the time until the next try, ms. */
  defer(cron_id: string, reason: string): number {
    const failures = (this.#deferred.get(cron_id)?.failures ?? 0) + 1;
    const wait_ms = backoffMs(failures, BACKOFF, () => 0);
    this.#deferred.set(cron_id, { failures, reason, until: this.#clock.monotonic() + wait_ms });
    return wait_ms;
  }

  isDeferred(cron_id: string): boolean {
    return (this.#deferred.get(cron_id)?.until ?? 0) > this.#clock.monotonic();
  }

  /** Drops all others: they have fired or were deleted. */
  keep(due: ReadonlySet<string>): void {
    for (const cron_id of this.#deferred.keys()) if (!due.has(cron_id)) this.#deferred.delete(cron_id);
  }

  get ids(): string[] {
    return [...this.#deferred.keys()];
  }

  /** Time of the earliest retry; `undefined` if there is none. */
  get next(): string | undefined {
    const times = [...this.#deferred.values()].map(({ until }) => until);
    return times.length === 0 ? undefined : this.#dateOf(Math.min(...times));
  }

  /** Why a cron is deferred; `undefined` if it is not. */
  of(cron_id: string): { failures: number; reason: string; next_try_at: string } | undefined {
    const deferral = this.#deferred.get(cron_id);
    if (!deferral) return undefined;
    const { failures, reason, until } = deferral;
    return { failures, reason, next_try_at: this.#dateOf(until) };
  }

  #dateOf(monotonic_ms: number): string {
    return timestamp(this.#clock.now() + Math.max(0, monotonic_ms - this.#clock.monotonic()));
  }
}

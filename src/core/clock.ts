/** The only source of time; injected, so that tests pass their own. */
export interface Clock {
  /** Wall clock, epoch ms. */
  now(): number;
  /** Monotonic ms, for durations and deadlines: unaffected when the wall clock is set. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Monotonic ms that all threads of this process share; `performance.now` counts from the start of its thread. */
export function threadMonotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** ISO-8601 in UTC with milliseconds: sorts as text, and is what the wire carries (contract §1). */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

const LAST_MS = Date.UTC(9999, 11, 31);

/**
 * Converts an ISO-8601 time to the stored form: UTC, because SQLite compares times as text, and from 1970 to 9999, because
 * PostgreSQL rejects the year 0.
 */
export function inUtc<Time extends string | undefined>(time: Time): Time {
  if (time === undefined) return time;
  return timestamp(Math.min(Math.max(0, Date.parse(time)), LAST_MS)) as Time;
}

/** Epoch ms of an ISO-8601 text, in UTC if it has no offset; NaN if invalid. */
export function parseTimestamp(text: string): number {
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
}

/** The one source of time. Tests pass their own. */
export interface Clock {
  /** Wall clock, ms since 1970. */
  now(): number;
  /** Monotonic ms, for durations and deadlines: never goes back when the wall clock is set. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** ISO-8601 in UTC with milliseconds: sorts as text, and is what the wire carries (CONTRACT §1). */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** Epoch ms of an ISO-8601 text; one without an offset is in UTC. NaN for what is none. */
export function parseTimestamp(text: string): number {
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
}

/** Uniform in [0, 1); injected so that tests can fix it. */
export type RandomNumber = () => number;

export const systemRandom: RandomNumber = () => Math.random();

export interface Backoff {
  /** Delay after the first failure, ms; doubled after each further one. */
  readonly first_ms: number;
  readonly longest_ms: number;
}

/**
 * Exponential back-off with jitter, ms: up to a fifth shorter, so that callers that failed together do not retry
 * together.
 */
export function backoffMs(failures: number, { first_ms, longest_ms }: Backoff, random: RandomNumber): number {
  // 2 ** 60 is far beyond any `longest_ms`, and still finite.
  const full = Math.min(longest_ms, first_ms * 2 ** Math.min(failures - 1, 60));
  return Math.round(full * (1 - random() / 5));
}

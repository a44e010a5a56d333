/** A number from 0 up to 1; passed in so that tests can fix it. */
export type RandomNumber = () => number;

export const systemRandom: RandomNumber = () => Math.random();

export interface Backoff {
  /** The wait after the first failure, ms; twice as long after each more. */
  readonly first_ms: number;
  readonly longest_ms: number;
}

/**
 * How long to wait after so many failures, ms: up to a fifth shorter, so that what failed together does not come back
 * together.
 */
export function backoffMs(failures: number, { first_ms, longest_ms }: Backoff, random: RandomNumber): number {
  // 2 ** 60 s is far beyond any longest wait, and still a number.
  const full = Math.min(longest_ms, first_ms * 2 ** Math.min(failures - 1, 60));
  return Math.round(full * (1 - random() / 5));
}

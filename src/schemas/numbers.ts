import { z } from 'zod';

/** The bounds of a number in a request or in the configuration, both included. */
export interface Range {
  readonly min: number;
  readonly max: number;
  /** In the plural: `seconds`. Undefined where the key says it all, as for a port. */
  readonly unit?: string | undefined;
}

const SECONDS = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 } as const;
const YEAR_S = 365 * SECONDS.days;

/** The largest value of an `integer` column, of PostgreSQL's `int4`: for counts that nobody needs to limit further. */
export const MAX_INTEGER = 2 ** 31 - 1;
/** The longest delay that somebody can ask for: a limit of 2^31 − 1 seconds, meant as none, is among them. */
export const MAX_DELAY_S = 100 * YEAR_S;
/** The longest time to live, in minutes: a thousand years. No date that follows from it is beyond the year 9999. */
export const MAX_TTL_MINUTES = (1000 * YEAR_S) / SECONDS.minutes;

/** A whole number whose errors name both bounds. */
export function boundedInt(range: Range) {
  const failure = mustBe('a whole number', range);
  return z.int(failure).min(range.min, failure).max(range.max, failure);
}

/** A number, with a fraction or without, whose errors name both bounds. */
export function boundedNumber(range: Range) {
  const failure = mustBe('a number', range);
  return z.number(failure).min(range.min, failure).max(range.max, failure);
}

/** A time to live. One that is over already, 0 or negative, is accepted as on the official server (CONTRACT §12). */
export const TtlMinutes = boundedNumber({
  min: -MAX_TTL_MINUTES,
  max: MAX_TTL_MINUTES,
  unit: 'minutes',
});

/** One text for every wrong value, and only once. */
function mustBe(kind: string, range: Range) {
  const { min, max, unit } = range;
  const counted = unit === undefined ? kind : `${kind} of ${unit}`;
  const text = `must be ${counted} from ${min} to ${max}${inYears(range)}`;
  return {
    error: ({ input }: { readonly input?: unknown }) => (input === undefined ? 'is required' : text),
    abort: true,
  };
}

/** What the maximum is in years, where it is one or more: ` (100 years)`. Nobody recognises 3153600000 seconds. */
export function inYears({ max, unit = '' }: Range): string {
  const seconds = unit in SECONDS ? max * SECONDS[unit as keyof typeof SECONDS] : 0;
  const years = Math.floor(seconds / YEAR_S);
  if (years === 0) return '';
  return years === 1 ? ' (1 year)' : ` (${years} years)`;
}

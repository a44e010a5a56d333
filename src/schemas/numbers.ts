import { z } from 'zod';

/** Inclusive bounds of a number in a request or in the configuration. */
export interface Range {
  readonly min: number;
  readonly max: number;
  /** Plural, such as `seconds`; `undefined` if the key implies it, as for a port. */
  readonly unit?: string | undefined;
}

const SECONDS = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 } as const;
const YEAR_S = 365 * SECONDS.days;

/** Maximum of PostgreSQL's `integer` (`int4`): for counts that need no tighter limit. */
export const MAX_INTEGER = 2 ** 31 - 1;
/** Maximum delay; admits 2^31 − 1 seconds, which clients send to mean no limit. */
export const MAX_DELAY_S = 100 * YEAR_S;
/** Maximum TTL in minutes: a thousand years, which keeps every expiry before the year 9999. */
export const MAX_TTL_MINUTES = (1000 * YEAR_S) / SECONDS.minutes;

/** A whole number; its errors name both bounds. */
export function boundedInt(range: Range) {
  const failure = mustBe('a whole number', range);
  return z.int(failure).min(range.min, failure).max(range.max, failure);
}

/** A number, possibly fractional; its errors name both bounds. */
export function boundedNumber(range: Range) {
  const failure = mustBe('a number', range);
  return z.number(failure).min(range.min, failure).max(range.max, failure);
}

/** A TTL. Zero and negative values, already expired, are accepted as on the official server (contract §12). */
export const TtlMinutes = boundedNumber({
  min: -MAX_TTL_MINUTES,
  max: MAX_TTL_MINUTES,
  unit: 'minutes',
});

/** One message for every invalid value, reported once. */
function mustBe(kind: string, range: Range) {
  const { min, max, unit } = range;
  const counted = unit === undefined ? kind : `${kind} of ${unit}`;
  const text = `must be ${counted} from ${min} to ${max}${inYears(range)}`;
  return {
    error: ({ input }: { readonly input?: unknown }) => (input === undefined ? 'is required' : text),
    abort: true,
  };
}

/** The maximum in years, if at least one: ` (100 years)`, because 3153600000 seconds is unreadable. */
export function inYears({ max, unit = '' }: Range): string {
  const seconds = unit in SECONDS ? max * SECONDS[unit as keyof typeof SECONDS] : 0;
  const years = Math.floor(seconds / YEAR_S);
  if (years === 0) return '';
  return years === 1 ? ' (1 year)' : ` (${years} years)`;
}

import { z } from 'zod';
import { boundedInt, boundedNumber, inYears, type Range } from '../schemas/numbers.ts';

/**
 * Value types of the configuration. Numbers, flags and lists also accept text, because environment variables and
 * `${VAR}` are always text. Messages state what is expected, never the given value, which may be secret. Every number
 * is bounded, so that arithmetic on it stays within timers, dates and columns.
 */

const UNITS: Record<string, number> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/** Error messages of a schema: one for an invalid value, another for a missing one. */
export const mustBe = (be: string) => ({
  error: (issue: { readonly input?: unknown }) =>
    issue.input === undefined ? 'is required' : `must be ${be}`,
});

/** Integer with a plural unit, bounds inclusive. */
export const integer = (min: number, max: number, unit: string) => integerIn({ min, max, unit });

/** Number with a plural unit, bounds inclusive. */
export const number = (min: number, max: number, unit: string) => {
  const range = { min, max, unit };
  return z.preprocess(textToNumber, boundedNumber(range)).meta({ type: 'number', range: rangeText(range) });
};

/** TCP port; 0 if any free port is allowed. */
export const port = (min: 0 | 1) => integerIn({ min, max: 65_535 });

const integerIn = (range: Range) =>
  z.preprocess(textToNumber, boundedInt(range)).meta({ type: 'whole number', range: rangeText(range) });

/** For the documentation: `1–100 attempts`. */
const rangeText = (range: Range) =>
  [`${range.min}–${range.max}`, range.unit].filter(Boolean).join(' ') + inYears(range);

export const boolean = () =>
  z.preprocess(textToBoolean, z.boolean(mustBe('true or false'))).meta({ type: 'true or false' });

/** List of strings, or one comma-separated string. */
export const stringList = () =>
  z.preprocess(textToList, z.array(text(), mustBe('a list'))).meta({ type: 'list' });

/** Number of bytes; text may have a unit: `512kb`, `16mb`, `1gb` (powers of 1024). The bounds are such texts. */
export const bytes = (min: string, max: string) => {
  const error = mustBe(`a number of bytes from ${min} to ${max}, such as 65536 or 64kb`);
  const size = z.int(error).min(bytesOf(min), error).max(bytesOf(max), error);
  return z.preprocess(textToBytes, size).meta({ type: 'bytes', range: `${min}–${max}` });
};

/** Limit of a message in a protocol whose library holds several copies of it in memory. */
export const messageLimit = () =>
  bytes('1kb', '500mb')
    .default(512 * 1024)
    .describe(
      'Largest message, at most `server.body_limit`; a larger one returns 413. Each megabyte blocks other requests for about 40 ms, because the library of the protocol serializes and copies whole messages.',
    );

export const text = () => z.string(mustBe('a string')).min(1, 'must not be empty').meta({ type: 'string' });

/** One of several words, case-insensitive. */
export const oneOf = <const Words extends readonly string[]>(
  words: Words,
  read: (word: string) => string = (word) => word,
) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' ? read(value.toLowerCase()) : value),
      z.enum(words, mustBe(`one of ${words.join(', ')}`)),
    )
    .meta({ type: words.join(', ') });

/** Block of related keys. Unknown keys are errors. */
export const group = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, mustBe('a map of keys'));

/** Any value, for keys that are not used yet; documented as in langgraph.json. */
export const unchecked = () => z.unknown().optional().meta({ type: 'map' });

function textToNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
}

function textToBoolean(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (/^(true|1|yes|on)$/i.test(value)) return true;
  return /^(false|0|no|off)$/i.test(value) ? false : value;
}

function textToList(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function textToBytes(value: unknown): unknown {
  const isSize = typeof value === 'string' && SIZE.test(value);
  return isSize ? bytesOf(value) : textToNumber(value);
}

const SIZE = /^\s*(\d+(?:\.\d+)?)\s*([kmg]?b)\s*$/i;

function bytesOf(size: string): number {
  const [, amount, unit = ''] = SIZE.exec(size) ?? [];
  return Math.round(Number(amount) * (UNITS[unit.toLowerCase()] as number));
}

/** Marks keys of langgraph.json that have no effect yet: accepted with a warning. */
export const NOT_SUPPORTED_YET = { pending: true };

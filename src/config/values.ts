import { z } from 'zod';

/**
 * Value types of the configuration. Text is accepted wherever a number, a flag or a list is meant, because
 * environment variables and `${VAR}` bring text only. Messages say what must be, never what was given: it may be secret.
 */

const UNITS: Record<string, number> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/** The error of a schema: one text for a wrong value, another for none. */
export const must = (be: string) => ({
  error: (issue: { readonly input?: unknown }) =>
    issue.input === undefined ? 'is required' : `must be ${be}`,
});

export const whole = (min: number, max: number = Number.MAX_SAFE_INTEGER) =>
  z
    .preprocess(
      textToNumber,
      z.int(must('a whole number')).min(min, `must be at least ${min}`).max(max, `must be at most ${max}`),
    )
    .meta({ type: 'whole number' });

export const number = (min: number, max: number = Number.MAX_VALUE) =>
  z
    .preprocess(
      textToNumber,
      z.number(must('a number')).min(min, `must be at least ${min}`).max(max, `must be at most ${max}`),
    )
    .meta({ type: 'number' });

export const flag = () =>
  z.preprocess(textToFlag, z.boolean(must('true or false'))).meta({ type: 'true or false' });

/** A list of texts, or one text with commas. */
export const list = () => z.preprocess(textToList, z.array(text(), must('a list'))).meta({ type: 'list' });

/** A number of bytes; text may carry a unit: `512kb`, `16mb`, `1gb` (powers of 1024). */
export const bytes = () =>
  z
    .preprocess(textToBytes, z.int(must('a number of bytes, or like 16mb')).min(1, 'must be at least 1'))
    .meta({ type: 'bytes' });

export const text = () => z.string(must('a text')).min(1, 'must not be empty').meta({ type: 'text' });

/** One of a few words, in any case. */
export const word = <const Words extends readonly string[]>(
  words: Words,
  read: (word: string) => string = (word) => word,
) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' ? read(value.toLowerCase()) : value),
      z.enum(words, must(`one of ${words.join(', ')}`)),
    )
    .meta({ type: words.join(', ') });

/** Keys that belong together. A key that is not among them is an error. */
export const group = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, must('a map of keys'));

/** What the server does not use yet: any value, described by the documentation of langgraph.json. */
export const block = () => z.unknown().optional().meta({ type: 'map' });

function textToNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
}

function textToFlag(value: unknown): unknown {
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
  const size = typeof value === 'string' ? /^\s*(\d+(?:\.\d+)?)\s*([kmg]?b)\s*$/i.exec(value) : null;
  if (!size) return textToNumber(value);
  return Math.round(Number(size[1]) * (UNITS[(size[2] as string).toLowerCase()] as number));
}

/** Marks what langgraph.json knows and this server does not do yet: accepted, with one warning line. */
export const PENDING = { pending: true };

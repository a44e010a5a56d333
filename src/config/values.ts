import { isIP } from 'node:net';
import { z } from 'zod';

/**
 * Value types of the configuration. Text is accepted wherever a number, a flag or a list is meant, because
 * environment variables and `${VAR}` bring text only.
 */

const UNITS: Record<string, number> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

export const whole = (min: number, max: number = Number.MAX_SAFE_INTEGER) =>
  z.preprocess(textToNumber, z.int().min(min).max(max)).meta({ type: 'whole number' });

export const flag = () => z.preprocess(textToFlag, z.boolean()).meta({ type: 'true, false' });

/** A list of texts, or one text with commas. */
export const list = () => z.preprocess(textToList, z.array(z.string().min(1))).meta({ type: 'list' });

/** A number of bytes; text may carry a unit: `512kb`, `16mb`, `1gb` (powers of 1024). */
export const bytes = () => z.preprocess(textToBytes, z.int().min(1)).meta({ type: 'bytes' });

export const text = () => z.string().min(1).meta({ type: 'text' });

/** One of a few words, in any case. */
export const word = <const T extends readonly string[]>(words: T) =>
  z
    .preprocess((value) => (typeof value === 'string' ? value.toLowerCase() : value), z.enum(words))
    .meta({
      type: words.join(', '),
    });

/** What the server only hands on or does not use yet: any JSON, described by its documentation. */
export const block = () => z.unknown().meta({ type: 'map' });

/** Addresses that only this machine reaches. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (address === 'localhost' || address === '::1') return true;
  return isIP(address) === 4 && address.startsWith('127.');
}

function textToNumber(value: unknown): unknown {
  return typeof value === 'string' && /^[+-]?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value;
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
  const size = typeof value === 'string' ? /^(\d+(?:\.\d+)?)\s*([kmg]?b)$/i.exec(value.trim()) : null;
  if (!size) return textToNumber(value);
  return Math.round(Number(size[1]) * (UNITS[(size[2] as string).toLowerCase()] as number));
}

import { InvalidInput } from '../core/errors.ts';
import { isObject } from '../core/json.ts';

/** Levels of nesting. Deeper JSON can be parsed, but neither stringified again nor stored by every engine. */
const MAX_DEPTH = 500;

/**
 * What a client sent, safe to keep, through whichever door it came. Undefined for what is no JSON. Throws
 * `InvalidInput` for what is too deep, or aims at prototypes.
 */
export function safeJson(text: string): { readonly value: unknown } | undefined {
  const read = readJson(text);
  return 'value' in read ? read : undefined;
}

/** The same, with what is wrong with a text that is no JSON. */
export function readJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: problemOf((error as Error).message) };
  }
  inspect(value, 0);
  // Only an escape can bring what PostgreSQL refuses as text: NUL, and halves of surrogate pairs.
  return { value: /\\u(0000|d[89a-f])/i.test(text) ? storable(value) : value };
}

/** In few words and without the text, of which the parser shows a part. */
function problemOf(message: string): string {
  const [, what, place] = /^(.*?)(?: in JSON)? at position \d+ (\(.*\))$/s.exec(message) ?? [];
  if (what !== undefined) return `${what.charAt(0).toLowerCase()}${what.slice(1)} ${place}`;
  const [, token] = /^Unexpected token '(.+?)', /su.exec(message) ?? [];
  if (token !== undefined) return `unexpected ${JSON.stringify(token)}`;
  return message.startsWith('Unexpected end') ? 'it ends too early' : 'it is none';
}

function inspect(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_DEPTH) throw new InvalidInput(`Request body is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    for (const item of value) inspect(item, depth + 1);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    const isPrototype =
      key === '__proto__' || (key === 'constructor' && isObject(item) && Object.hasOwn(item, 'prototype'));
    if (isPrototype) throw new InvalidInput(`Request body has a key that is not allowed: ${key}`);
    inspect(item, depth + 1);
  }
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD').toWellFormed();
  if (Array.isArray(value)) return value.map(storable);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storable(key), storable(item)]));
}

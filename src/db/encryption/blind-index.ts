import { isObject, toJson } from '../../core/json.ts';
import type { Cipher } from './cipher.ts';

/**
 * Blind index of a JSON document, for containment queries on encrypted data: the same structure, with a token for every
 * scalar and for every nested member name, as those may be data too. Top-level names and nulls stay in plain text. A
 * blinded document contains a blinded filter exactly when the document contains the filter: numbers compare as in JSON,
 * and text never equals a number. Without encryption, returns the value itself.
 */
export function blindDocument(cipher: Cipher, column: string, value: unknown): unknown {
  if (!cipher.enabled) return value;
  if (!isObject(value)) return blindValue(cipher, column, value);
  return mapMembers(value, (name, member) => [name, blindValue(cipher, column, member)]);
}

function blindValue(cipher: Cipher, column: string, value: unknown): unknown {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((each) => blindValue(cipher, column, each ?? null));
  if (!isObject(value)) return cipher.blindIndex(column, toJson(value));
  return mapMembers(value, (name, member) => [
    cipher.blindIndex(`${column} name`, toJson(name)),
    blindValue(cipher, column, member),
  ]);
}

function mapMembers(object: object, change: (name: string, member: unknown) => [string, unknown]): object {
  const given = Object.entries(object).filter(([, member]) => member !== undefined);
  return Object.fromEntries(given.map(([name, member]) => change(name, member)));
}

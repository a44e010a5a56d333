import { isObject, toJson } from '../../core/json.ts';
import type { Cipher } from './cipher.ts';

/**
 * A document in which the database can look for what it contains without knowing any of it: the same structure, each
 * plain value as a token, and so the names inside of members, for they may be data too. Names of members themselves
 * stay, and null. A blinded document contains a blinded question exactly when the document contains the question:
 * numbers are equal as they are in JSON, and a text is never equal to a number. Without encryption the value itself.
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

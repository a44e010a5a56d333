import { isObject, toJson } from '../../core/json.ts';
import type { Cipher } from './cipher.ts';

/**
 * A document in which the database can look for what it contains without knowing any of it: the same structure, each
 * plain value as a token, and so the names inside of members, for they may be data too. Names of members themselves
 * stay, and null. A blinded document contains a blinded question exactly when the document contains the question:
 * numbers are equal as they are in JSON, and a text is never equal to a number. Without encryption the value itself.
 */
export function blind(cipher: Cipher, column: string, value: unknown): unknown {
  if (!cipher.on) return value;
  if (!isObject(value)) return blindAll(cipher, column, value);
  return members(value, (name, member) => [name, blindAll(cipher, column, member)]);
}

function blindAll(cipher: Cipher, column: string, value: unknown): unknown {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((each) => blindAll(cipher, column, each ?? null));
  if (!isObject(value)) return cipher.token(column, toJson(value));
  return members(value, (name, member) => [
    cipher.token(`${column} name`, toJson(name)),
    blindAll(cipher, column, member),
  ]);
}

function members(object: object, change: (name: string, member: unknown) => [string, unknown]): object {
  const given = Object.entries(object).filter(([, member]) => member !== undefined);
  return Object.fromEntries(given.map(([name, member]) => change(name, member)));
}

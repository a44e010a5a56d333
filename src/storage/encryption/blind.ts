import { isObject, toJson } from '../../core/json.ts';
import type { Cipher } from './cipher.ts';

/**
 * The same structure with each plain value as a token: a blinded document contains a blinded question exactly when the
 * document contains the question, and the database can tell without knowing either. Names of members stay. Numbers are
 * equal as they are in JSON, 1 and 1.0; a text is never equal to a number. Without encryption the value itself.
 */
export function blind(cipher: Cipher, column: string, value: unknown): unknown {
  if (!cipher.on) return value;
  if (Array.isArray(value)) return value.map((each) => blind(cipher, column, each));
  if (!isObject(value)) return cipher.token(column, toJson(value));
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, blind(cipher, column, member)]));
}

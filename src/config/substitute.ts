import { isObject } from '../core/json.ts';
import type { Environment } from './env.ts';

const REFERENCE = /\$\$\{|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** Told about each variable that is missing, with the path of the key that wants it. */
export type OnMissing = (key: string, variable: string) => void;

/**
 * Replaces `${VAR}` and `${VAR:-default}` in every text of a value; `$${` stands for `${`. An empty variable counts
 * as missing. Keys with null are left out: in YAML, that is a key with nothing behind it.
 */
export function substitute(value: unknown, environment: Environment, missing: OnMissing, key = ''): unknown {
  if (typeof value === 'string') return substituteText(value, environment, (name) => missing(key, name));
  if (Array.isArray(value)) {
    return value.map((item, index) => substitute(item, environment, missing, join(key, String(index))));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null)
      .map(([name, item]) => [name, substitute(item, environment, missing, join(key, name))]),
  );
}

function substituteText(text: string, environment: Environment, missing: (name: string) => void): string {
  return text.replace(REFERENCE, (match, name?: string, fallback?: string) => {
    if (name === undefined) return '${';
    const value = environment[name] || fallback;
    if (value === undefined) missing(name);
    return value ?? match;
  });
}

function join(key: string, name: string): string {
  return key === '' ? name : `${key}.${name}`;
}

import { isObject, type JsonObject } from '../core/json.ts';
import { type Environment, VARIABLES } from './env.ts';
import type { Problems } from './problems.ts';

/** Puts the known variables over what the file says. An empty variable counts as not set. */
export function overlayVariables(document: JsonObject, environment: Environment, problems: Problems): void {
  for (const { name, key, json } of VARIABLES) {
    const value = environment[name];
    if (!value) continue;
    problems.setBy(key, name);
    if (!json) {
      put(document, key, value);
      continue;
    }
    try {
      put(document, key, JSON.parse(value));
    } catch {
      problems.add(key, 'is not valid JSON');
    }
  }
}

/** Puts given flags over everything else; the name of a flag is the last word of the key it sets. */
export function overlayFlags(
  document: JsonObject,
  flags: Readonly<Record<string, string | undefined>>,
  problems: Problems,
): void {
  for (const [key, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    problems.setBy(key, `--${key.slice(key.lastIndexOf('.') + 1)}`);
    put(document, key, value);
  }
}

/** Sets a key with dots and makes the blocks on the way; a block that is no map is left for the schema to refuse. */
function put(document: JsonObject, key: string, value: unknown): void {
  const names = key.split('.');
  const last = names.pop() as string;
  let block: JsonObject = document;
  for (const name of names) {
    block[name] ??= {};
    const next = block[name];
    if (!isObject(next)) return;
    block = next;
  }
  block[last] = value;
}

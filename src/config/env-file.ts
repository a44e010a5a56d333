import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { isObject } from '../core/json.ts';

/** The file an `env` key points at; undefined when the key holds the variables themselves. */
export function envFile(env: unknown, root: string): string | undefined {
  return typeof env === 'string' && env !== '' ? resolve(root, env) : undefined;
}

/**
 * The variables of an `env` key: a `.env` file, a map, or a list of `NAME=value` (a bare `NAME` is one that the
 * environment brings). A missing file is reported by `warn` only: images and new checkouts have none.
 */
export async function readEnv(
  env: unknown,
  root: string,
  warn: (line: string) => void,
): Promise<Record<string, string>> {
  const file = envFile(env, root);
  if (file !== undefined) {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      warn(`env: ${file} cannot be read (${error.code}); going on without it`);
      return '';
    });
    return { ...parseEnv(text) } as Record<string, string>;
  }
  const entries = Array.isArray(env) ? env.map(splitEntry) : isObject(env) ? Object.entries(env) : [];
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}

function splitEntry(entry: unknown): [string, string | undefined] {
  const [name = '', ...value] = String(entry).split('=');
  return [name, value.length > 0 ? value.join('=') : undefined];
}

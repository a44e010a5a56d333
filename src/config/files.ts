import { access, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { isObject, type JsonObject } from '../core/json.ts';
import { ConfigError } from './errors.ts';

/** Searched in the working folder, in this order. */
const CONFIG_FILE_NAMES = ['agent.config.yaml', 'langgraph.json'];

/** Path of the configuration file; `undefined` if none is named and the folder contains none. */
export async function findConfigFile(cwd: string, named: string | undefined): Promise<string | undefined> {
  if (named !== undefined) return resolve(cwd, named);
  for (const name of CONFIG_FILE_NAMES) {
    const found = await access(join(cwd, name)).then(
      () => true,
      () => false,
    );
    if (found) return join(cwd, name);
  }
  return undefined;
}

/** Reads YAML or JSON. Errors give line and column but no text of the file, which may hold secrets. */
export async function readConfigFile(file: string): Promise<JsonObject> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'file not found' : `cannot be read (${error.code})`;
    throw new ConfigError([`${file}: ${why}`]);
  });
  const document = asJson(text) ?? (await asYaml(text, basename(file)));
  if (isTooDeep(document)) throw new ConfigError([`${basename(file)}: ${TOO_DEEP}`]);
  if (!isObject(document)) throw new ConfigError([`${basename(file)}: must be a map of keys`]);
  return document;
}

/** Maximum levels of nesting: a few thousand would exhaust the stack of recursive readers. */
const MAX_DEPTH = 100;
export const TOO_DEEP = `is nested deeper than ${MAX_DEPTH} levels`;

/** Whether a value is nested deeper than a configuration may be. */
export function isTooDeep(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isTooDeep(inner, levels - 1));
}

/** Fast path for JSON: avoids loading the YAML parser at start-up. */
function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function asYaml(text: string, name: string): Promise<unknown> {
  const { LineCounter, parseDocument } = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  // The parser reports an exhausted stack as a syntax error, with others that follow from it.
  if (document.errors.some(({ message }) => message.startsWith('Maximum call stack')))
    throw new ConfigError([`${name}: ${TOO_DEEP}`]);
  if (document.errors.length > 0) {
    throw new ConfigError(
      document.errors.map((error) => {
        const { line, col } = lineCounter.linePos(error.pos[0]);
        // The parser quotes the offending text after a colon.
        return `${name}:${line}:${col}: ${error.message.replace(/:.*$/s, '')}`;
      }),
    );
  }
  try {
    return document.toJS();
  } catch (error) {
    if (error instanceof RangeError) throw new ConfigError([`${name}: ${TOO_DEEP}`]);
    if (String(error).includes('Excessive alias count'))
      throw new ConfigError([`${name}: its aliases (*name) expand to too many values`]);
    throw new ConfigError([`${name}: an alias (*name) has no preceding anchor (&name)`]);
  }
}

/** Path of the file that an `env` key names; `undefined` if the key holds the variables themselves. */
export function envFilePath(env: unknown, root: string): string | undefined {
  return typeof env === 'string' && env !== '' ? resolve(root, env) : undefined;
}

/**
 * Variables of an `env` key: a `.env` file, a map, or a list of `NAME=value` (a bare `NAME` is inherited). A missing file
 * only causes a warning: images and fresh checkouts lack it.
 */
export async function readEnvFile(
  env: unknown,
  root: string,
  warn: (line: string) => void,
): Promise<Record<string, string>> {
  const file = envFilePath(env, root);
  if (file !== undefined) {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      warn(`env: ${file} cannot be read (${error.code}); continuing without it`);
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

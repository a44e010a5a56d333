import { access, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { isObject, type JsonObject } from '../core/json.ts';
import { ConfigError } from './problems.ts';

/** Looked for in the working folder, in this order. */
const NAMES = ['agent.config.yaml', 'langgraph.json'];

/** The configuration file that is meant; undefined when none was named and the folder has none. */
export async function findFile(cwd: string, named: string | undefined): Promise<string | undefined> {
  if (named !== undefined) return resolve(cwd, named);
  for (const name of NAMES) {
    const found = await access(join(cwd, name)).then(
      () => true,
      () => false,
    );
    if (found) return join(cwd, name);
  }
  return undefined;
}

/** Reads YAML or JSON. Problems name line and column but show no text of the file: it may hold secrets. */
export async function readDocument(file: string): Promise<JsonObject> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such file' : `cannot be read (${error.code})`;
    throw new ConfigError([`${file}: ${why}`]);
  });
  const document = asJson(text) ?? (await asYaml(text, basename(file)));
  if (!isObject(document)) throw new ConfigError([`${basename(file)}: must be a map of keys`]);
  return document;
}

/** Saves loading the YAML parser, and with it a part of the start-up time, for a langgraph.json. */
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
  if (document.errors.length > 0) {
    throw new ConfigError(
      document.errors.map((error) => {
        const { line, col } = lineCounter.linePos(error.pos[0]);
        // The parser quotes what it stumbled over behind a colon.
        return `${name}:${line}:${col}: ${error.message.replace(/:.*$/s, '')}`;
      }),
    );
  }
  try {
    return document.toJS();
  } catch {
    throw new ConfigError([`${name}: an alias (*name) has no anchor (&name) before it`]);
  }
}

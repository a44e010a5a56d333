import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isObject, type JsonObject } from '../../core/json.ts';
import { UsageError } from '../command.ts';

/** The folder of this package. */
export const PACKAGE = resolve(import.meta.dirname, '../../..');

const SCRIPTS = {
  dev: 'agent-server dev',
  start: 'agent-server start',
  check: 'agent-server check && tsc',
  test: 'node --test',
};

const DEPENDENCIES = {
  '@langchain/core': '^1.1.48',
  '@langchain/langgraph': '^1.4.18',
  langchain: '^1.5.14',
  zod: '^4.6.7',
};

const DEV_DEPENDENCIES = { '@types/node': '^24.0.0', typescript: '^7.0.0' };

/** The Node of the registry, for a machine whose own is too old; npm asks whether its script may fetch the program. */
const OWN_NODE = { devDependencies: { node: '^24.0.0' }, allowScripts: { node: true } };

/**
 * The `package.json` of a project in `folder`, with what it has already: nothing of that is changed. `needs_node`: it
 * brings a Node of its own.
 */
export async function packageFile(
  folder: string,
  known: JsonObject | undefined,
  needs_node: boolean,
): Promise<JsonObject> {
  const before: JsonObject = known ?? { name: nameOf(folder), private: true };
  const { scripts, dependencies, devDependencies, allowScripts, ...rest } = before;
  const own = needs_node ? OWN_NODE : undefined;
  const allowed = { ...own?.allowScripts, ...objectOf(allowScripts) };
  return {
    ...rest,
    type: rest['type'] ?? 'module',
    engines: rest['engines'] ?? { node: '>=22.19' },
    scripts: { ...SCRIPTS, ...objectOf(scripts) },
    dependencies: sorted({
      'agent-server': await ownVersion(folder),
      ...DEPENDENCIES,
      ...objectOf(dependencies),
    }),
    devDependencies: sorted({ ...DEV_DEPENDENCIES, ...own?.devDependencies, ...objectOf(devDependencies) }),
    ...(Object.keys(allowed).length > 0 && { allowScripts: allowed }),
  };
}

/** Undefined when there is no file. Throws a `UsageError` for one that is no JSON. */
export async function readPackage(folder: string): Promise<JsonObject | undefined> {
  const file = join(folder, 'package.json');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return objectOf(JSON.parse(text));
  } catch {
    throw new UsageError(`init: ${file} is not valid JSON`);
  }
}

/**
 * How the project depends on this package: on the folder when this is a clone, as the project that this is installed in
 * does, or by its version.
 */
async function ownVersion(folder: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'));
  if (isClone()) return `file:${relative(folder, PACKAGE)}`;
  const host = resolve(PACKAGE, '../..');
  const spec = objectOf((await readPackage(host))?.['dependencies'])['agent-server'];
  if (typeof spec !== 'string') return `^${version}`;
  return spec.startsWith('file:')
    ? `file:${relative(folder, resolve(host, spec.slice('file:'.length)))}`
    : spec;
}

/** Not installed, but a working copy of the repository. */
export function isClone(): boolean {
  return basename(dirname(PACKAGE)) !== 'node_modules';
}

function nameOf(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, '-')
    .replace(/^-+/, '');
  return name || 'my-agent';
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function sorted(of: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(of).sort(([one], [other]) => (one < other ? -1 : 1)));
}

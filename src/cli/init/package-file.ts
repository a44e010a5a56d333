import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { isObject, type JsonObject } from '../../core/json.ts';
import { UsageError } from '../command.ts';
import { exists } from './files.ts';
import { DEPENDENCY_BLOCKS, serverPackageSpec } from './server-package.ts';
import type { Template } from './templates.ts';
import { VENDORED_SPEC } from './vendor.ts';

/** An existing `package.json`. */
export interface KnownPackage {
  readonly text: string;
  readonly values: JsonObject;
}

/** What the project needs. */
export interface PackageNeeds {
  /** Whose agent and test the project gets, if any. */
  readonly template: Template | undefined;
  /** Its own Node as a dependency. */
  readonly node: boolean;
  /** The server from the package in `vendor`. */
  readonly vendored: boolean;
}

const BLOCKS = [...DEPENDENCY_BLOCKS, 'scripts', 'allowScripts'];

const SCRIPTS = { dev: 'agent-server dev', start: 'agent-server start', check: 'agent-server check' };
const AGENT_SCRIPTS = { check: 'agent-server check && tsc', test: 'node --test' };

const DEPENDENCIES = { '@langchain/core': '^1.4.0', '@langchain/langgraph': '^1.7.3', zod: '^4.6.7' };
const AGENT_DEPENDENCIES = { langchain: '^1.5.14' };
const AGENT_DEV_DEPENDENCIES = { '@types/node': '^24.0.0', typescript: '^7.0.0' };

/** Node from the registry, for a machine whose own is too old; npm asks before running its install script. */
const OWN_NODE = { node: '^24.0.0' };
const OWN_NODE_ALLOWED = { node: true };

/** Returns `undefined` if there is none. Throws a `UsageError` if it cannot be completed. */
export async function readPackage(folder: string): Promise<KnownPackage | undefined> {
  const file = join(folder, 'package.json');
  if (!(await exists(file))) return undefined;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`init: cannot read ${file} (${error.code})`);
  });
  const values = parsed(text.replace(/^\uFEFF/, ''), file);
  if (!isObject(values)) throw new UsageError(`init: ${file} must be a JSON object`);
  const wrong = BLOCKS.find((name) => values[name] !== undefined && !isObject(values[name]));
  if (wrong !== undefined) throw new UsageError(`init: ${file}: "${wrong}" must be an object`);
  return { text, values };
}

function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`init: ${file} is not valid JSON`);
  }
}

/** Whether Node treats the project's `.js` and `.ts` files as CommonJS. */
export function isCommonJs({ values }: KnownPackage): boolean {
  return values['type'] !== 'module';
}

/** Text of the `package.json` for `folder`; `undefined` if the existing one needs no change. */
export async function packageText(
  folder: string,
  known: KnownPackage | undefined,
  needs: PackageNeeds,
): Promise<string | undefined> {
  if (known === undefined) {
    const fresh = { name: nameOf(folder), private: true, type: 'module' };
    return `${JSON.stringify(await completed(folder, fresh, needs), null, 2)}\n`;
  }
  const values = await completed(folder, needs.vendored ? vendored(known.values) : known.values, needs);
  if (JSON.stringify(values) === JSON.stringify(known.values)) return undefined;
  return inStyleOf(known.text, values);
}

/** Only adds entries. Does not set `type`, which would change how the project's files are parsed. */
async function completed(folder: string, before: JsonObject, needs: PackageNeeds): Promise<JsonObject> {
  const named = DEPENDENCY_BLOCKS.flatMap((name) => Object.keys(objectOf(before[name])));
  const lacking = (packages: JsonObject) =>
    Object.fromEntries(Object.entries(packages).filter(([name]) => !named.includes(name)));
  const after: JsonObject = { ...before, engines: before['engines'] ?? { node: '>=22.19' } };
  // Keeps an empty block, but does not create one.
  const add = (name: string, block: JsonObject) => {
    if (Object.keys(block).length > 0) after[name] = block;
  };
  const spec = needs.vendored ? VENDORED_SPEC : await serverPackageSpec(folder);
  const own = named.includes('agent-server') ? {} : { 'agent-server': spec };
  const { template } = needs;
  const scripts = { ...SCRIPTS, ...(template && AGENT_SCRIPTS), ...template?.scripts };
  add('scripts', withMissing(before['scripts'], scripts));
  const agent = template && { ...AGENT_DEPENDENCIES, ...template.dependencies };
  const packages = lacking({ ...own, ...DEPENDENCIES, ...agent });
  add('dependencies', sortedWithMissing(before['dependencies'], packages));
  const agentTools = template && { ...AGENT_DEV_DEPENDENCIES, ...template.devDependencies };
  const tools = lacking({ ...agentTools, ...(needs.node && OWN_NODE) });
  add('devDependencies', sortedWithMissing(before['devDependencies'], tools));
  add('allowScripts', withMissing(before['allowScripts'], needs.node ? OWN_NODE_ALLOWED : {}));
  return after;
}

/** Names the vendored package where the server is named already. */
function vendored(values: JsonObject): JsonObject {
  const block = DEPENDENCY_BLOCKS.find((name) => 'agent-server' in objectOf(values[name]));
  if (block === undefined) return values;
  return { ...values, [block]: { ...objectOf(values[block]), 'agent-server': VENDORED_SPEC } };
}

/** Appends the entries that the block lacks. */
function withMissing(block: unknown, missing: JsonObject): JsonObject {
  const known = objectOf(block);
  return { ...known, ...Object.fromEntries(Object.entries(missing).filter(([name]) => !(name in known))) };
}

/** Appends missing entries; keeps the block sorted if it was. */
function sortedWithMissing(block: unknown, missing: JsonObject): JsonObject {
  const names = Object.keys(objectOf(block));
  const all = withMissing(block, missing);
  if (names.join('\n') !== names.toSorted().join('\n')) return all;
  return Object.fromEntries(
    Object.keys(all)
      .sort()
      .map((name) => [name, all[name]]),
  );
}

/** Serializes with the indentation, line endings and final newline of `text`. */
function inStyleOf(text: string, values: JsonObject): string {
  const [, indent = '  '] = /\{\s*\n([ \t]+)"/.exec(text) ?? [];
  const end = text.slice(text.trimEnd().length).includes('\n') || !text.includes('\n') ? '\n' : '';
  const json = `${JSON.stringify(values, null, indent)}${end}`;
  return text.includes('\r\n') ? json.replaceAll('\n', '\r\n') : json;
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

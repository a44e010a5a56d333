import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { environmentWithPath, searchPath } from '../../config/env.ts';
import { PACKAGE_ROOT } from '../../core/package-files.ts';
import { trimEnd } from '../../core/text.ts';
import { UsageError } from '../command.ts';
import { exists, type FileChange } from './files.ts';
import { isCommonJs, packageText, readPackage } from './package-file.ts';
import { isClone } from './server-package.ts';
import { readTemplate, type TemplateName, templateFiles } from './templates.ts';
import { vendoredPackage } from './vendor.ts';

/** What the folder already contains. */
export interface Found {
  /** Its configuration names graphs, so no agent is added. */
  readonly configured: boolean;
  /** Its own `src/agent.ts`, which the template agent's other files would not match. */
  readonly agent: boolean;
}

const CONFIGURATIONS = ['agent.config.yaml', 'langgraph.json'];
const AGENT = 'src/agent.ts';

export async function foundIn(root: string): Promise<Found> {
  const [agent, ...configured] = await Promise.all(
    [AGENT, ...CONFIGURATIONS].map((name) => exists(join(root, name))),
  );
  return { configured: configured.includes(true), agent: agent === true };
}

/**
 * Plans the change of every file: the configuration and the agent first. `vendored`: with the package of the server.
 * Throws a `UsageError` if the agent could not run in the project.
 */
export async function changesFor(
  root: string,
  found: Found,
  name: TemplateName,
  vendored: boolean,
): Promise<[FileChange, ...FileChange[]]> {
  if (root === PACKAGE_ROOT)
    throw new UsageError('init: this is the folder of the server itself: name another one for the project');
  const with_agent = !found.configured && !found.agent;
  const known = await readPackage(root);
  if (with_agent && known !== undefined && isCommonJs(known))
    throw new UsageError(
      `init: ${join(root, 'package.json')} makes this a CommonJS project, and the agent's files are ES modules: ` +
        'choose an empty folder, or set "type": "module"',
    );
  const template = with_agent ? await readTemplate(name) : undefined;
  const needs = { template, node: await isMachineNodeTooOld(), vendored };
  const text = await packageText(root, known, needs);
  const file: FileChange =
    text === undefined
      ? { name: 'package.json', state: 'kept' }
      : { name: 'package.json', state: known === undefined ? 'created' : 'changed', text };
  const sources = await templateFiles(name);
  const names = await namesFor(root, found, [...sources.keys()]);
  const changes = names.map((each) => changeOf(root, each, sources.get(each), with_agent));
  return [file, ...(await Promise.all(changes)), ...(vendored ? [await vendoredPackage(root)] : [])];
}

async function namesFor(root: string, found: Found, all: readonly string[]): Promise<string[]> {
  const first = ['agent.config.yaml', AGENT];
  if (!found.configured && !found.agent)
    return [...first, ...all.filter((name) => !first.includes(name)).sort()];
  const rest = ['.env.example', '.gitignore'];
  if (!found.configured) return ['agent.config.yaml', AGENT, '.env', ...rest];
  const present = await Promise.all(CONFIGURATIONS.map((name) => exists(join(root, name))));
  return [...CONFIGURATIONS.filter((_, index) => present[index]), ...rest];
}

/** Existing files are left alone; only `.gitignore` gets missing lines appended. */
async function changeOf(
  root: string,
  name: string,
  source: string | undefined,
  with_agent: boolean,
): Promise<FileChange> {
  const file = join(root, name);
  // Without a source it is a configuration that was found, and is kept.
  if (source !== undefined && !(await exists(file))) {
    const text = await readFile(source, 'utf8');
    return { name, state: 'created', text: with_agent ? text : withoutAgent(text) };
  }
  const missing = name === '.gitignore' && source !== undefined ? await linesFor(file, source) : '';
  return missing === '' ? { name, state: 'kept' } : { name, state: 'changed', text: missing, append: true };
}

/** Removes the lines that only apply to the template's agent and its model. */
function withoutAgent(text: string): string {
  const rest = text.replace(/^ *description: .*\n/m, '').replace(/ Without MODEL .*/, '');
  const start = rest.indexOf('# MODEL=');
  const end = rest.indexOf('\n\n', start);
  return start < 0 || end < 0 ? rest : rest.slice(0, start) + rest.slice(end + 2);
}

/** Template lines missing from the `.gitignore`, to be appended. */
async function linesFor(file: string, source: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`init: cannot read ${file} (${error.code})`);
  });
  const known = text.split('\n').map(entryOf);
  const lines = (await readFile(source, 'utf8')).trim().split('\n');
  const missing = lines.filter((line) => !known.includes(entryOf(line)));
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = text === '' || text.endsWith('\n') ? '' : end;
  return missing.length === 0 ? '' : `${gap}${missing.map((line) => `${line}${end}`).join('')}`;
}

/** Normalizes an entry: `/.env`, `.env/` and `.env*` match the same; a negated `!.env` is a choice to respect. */
function entryOf(line: string): string {
  const name = line.trim().replace(/^!?(\*\*)?\/?/, '');
  return trimEnd(trimEnd(trimEnd(name, '/'), '*'), '/');
}

const NODE_TIMEOUT_MS = 5_000;

/**
 * Whether the system's Node is missing or too old for the server. This process may run on another one, installed by a
 * package, which the new project does not have.
 */
async function isMachineNodeTooOld(): Promise<boolean> {
  const PATH = searchPath()
    .split(delimiter)
    .filter((folder) => !folder.includes(`node_modules${sep}.bin`))
    .join(delimiter);
  // A version manager's shim needs the other variables, and may prompt or download.
  const options = { env: environmentWithPath(PATH), timeout: NODE_TIMEOUT_MS };
  const { stdout } = await promisify(execFile)('node', ['--version'], options).catch(() => ({
    stdout: 'v0.0.0',
  }));
  const [major = 0, minor = 0] = stdout.trim().slice(1).split('.').map(Number);
  // The sources need Node 24; the build runs on 22.19.
  const [needed_major, needed_minor] = isClone() ? [24, 0] : [22, 19];
  return major < needed_major || (major === needed_major && minor < needed_minor);
}

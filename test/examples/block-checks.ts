import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { COMMANDS } from '../../src/cli/all-commands.ts';
import { parseFlags } from '../../src/cli/command.ts';
import { ALL_VARIABLES } from '../../src/config/config-file.ts';
import { loadConfig } from '../../src/config/load.ts';
import { project } from '../support/project.ts';
import { type Block, filesOf, ROOT } from './blocks.ts';

/** Whether a block is right, as far as one can tell without running it. `false` too if only running it could tell. */
export async function isRight(page: string, { language, text }: Block): Promise<boolean> {
  switch (language) {
    case 'json':
      return succeeds(() => JSON.parse(text));
    case 'yaml':
      return isConfiguration(text);
    case 'sh':
      return commandsIn(text).every((words) => isKnown(page, words));
    case 'dotenv':
      return Object.keys(parseEnv(text)).every(isVariable);
    case 'ts':
    case 'tsx':
      return isCompiled(page, text);
    default:
      return false;
  }
}

/** Whether types.slow.test.ts compiles a block: all files and whole modules, apart from those for contributors. */
export function isCompiled(page: string, text: string): boolean {
  if (/^docs\/(?:internals|decisions)\//.test(page)) return false;
  return /^(?:import|export) /m.test(text) || Object.values(filesOf(page)).includes(text);
}

/** A configuration, or a part of one: valid, and each of its keys has an effect. */
async function isConfiguration(text: string): Promise<boolean> {
  const graphs = /^graphs:/m.test(text) ? '' : 'graphs: { agent: "./agent.ts:graph" }\n';
  await using folder = await project({ 'agent.config.yaml': graphs + text, '.env': '' });
  const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const environment = Object.fromEntries(names.map((name) => [name, 'a-value']));
  const loading = loadConfig({ cwd: folder.root, environment });
  return await loading.then(
    ({ warnings }) => warnings.length === 0,
    () => false,
  );
}

const VARIABLES = new Set(ALL_VARIABLES.map(({ name }) => name));

/** Read by the server, or by a library that the page is about. */
function isVariable(name: string): boolean {
  return VARIABLES.has(name) || /^(?:OTEL|LANGSMITH)_[A-Z_]+$/.test(name);
}

/** The words of each command, as a shell divides them. */
function commandsIn(text: string): string[][] {
  return text
    .replaceAll(/\\\n\s*/g, ' ')
    .replaceAll(/(?<=^|\s)#.*$/gm, '')
    .split(/\n|&&/)
    .map(wordsOf)
    .filter((words) => words.length > 0);
}

/** Without the variables of the command, and what becomes of its output. */
export function wordsOf(line: string): string[] {
  const command = line
    .trim()
    .replace(/^(?:[A-Z_]+=(?:"[^"]*"|'[^']*'|[^\s"'])*(?:\s+|$))+/, '')
    .replace(/ \d?>.*/, '');
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
  scripts: Record<string, string>;
  devDependencies: Record<string, string>;
};

const PROGRAM = 'node_modules/agent-server/bin/agent-server.mjs';

/** Whether a command exists, with its flags and arguments, or the files and packages that it names. */
function isKnown(page: string, [program = '', ...args]: readonly string[]): boolean {
  const [first = '', ...others] = args.filter((arg) => arg !== '--env-file=.env');
  if (program === 'cd' || program === 'export') return true;
  if (program === 'npm') return isOfNpm(args);
  if (program === 'node')
    return first === PROGRAM ? isCommand(others) : first === '--test' || first in filesOf(page);
  if (program !== 'npx') return false;
  if (first === 'vitest') return existsSync(join(ROOT, others.at(-1) ?? ''));
  return first === 'agent-server' && isCommand(others);
}

function isOfNpm([command = '', ...args]: readonly string[]): boolean {
  if (command === 'run') return args[0] !== undefined && args[0] in manifest.scripts;
  if (command === 'install') return args.every(isTested);
  if (command === 'ls') return args.every((name) => name in manifest.devDependencies);
  return command === 'ci' || command === 'test' || (command === 'start' && args.length === 0);
}

/** A package that tests install, and its version if there is one. */
function isTested(spec: string): boolean {
  const [, name = '', version] = /^(@?[^@]+)(?:@(.+))?$/.exec(spec) ?? [];
  if (name === 'agent-server') return version === manifest.version;
  const tested = name === 'zod' ? '4' : manifest.devDependencies[name];
  return (
    tested !== undefined && (version === undefined || version === 'latest' || tested.startsWith(version))
  );
}

/** Whether the command line of the server accepts these arguments. */
export function isCommand(words: readonly string[]): boolean {
  return succeeds(() => parsed(words));
}

/** Parses the arguments as the server does. Throws if there is no such command, flag or argument. */
export function parsed(words: readonly string[]): void {
  const named = COMMANDS.filter(({ name }) => `${words.join(' ')} `.startsWith(`${name} `));
  const command = named.toSorted((a, b) => b.name.length - a.name.length)[0];
  if (command === undefined) throw new Error(`unknown command: ${words.join(' ')}`);
  parseFlags(command, words.slice(command.name.split(' ').length));
}

function succeeds(step: () => unknown): boolean {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}

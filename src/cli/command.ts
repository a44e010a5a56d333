import { parseArgs } from 'node:util';
import { didYouMean } from '../core/did-you-mean.ts';

/** A flag of a command. */
export interface Flag {
  /** Placeholder of the value in the help; without it the flag is boolean. */
  readonly value?: string;
  /** One-letter alias, after a single dash. */
  readonly short?: string;
  readonly text: string;
  /** Shown in the usage; the command itself checks it. */
  readonly required?: boolean;
}

/** Positional argument, such as a folder. */
export interface Argument {
  readonly name: string;
  readonly text: string;
  readonly required?: boolean;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Positional, in this order. */
  readonly args?: readonly Argument[];
  readonly flags: Readonly<Record<string, Flag>>;
  /** Resolves to the exit code: 0 success, 1 failure, 2 usage or configuration error. */
  run(values: FlagValues): Promise<number>;
}

/** Flags and arguments by name; a boolean flag is `'true'`. */
export type FlagValues = Readonly<Record<string, string | undefined>>;

/** Invalid command line. The message is a single line. */
export class UsageError extends Error {}

export const CONFIG_FLAG = {
  config: { value: 'FILE', text: 'configuration file (default: agent.config.yaml, else langgraph.json)' },
} as const satisfies Record<string, Flag>;

/** Names a running server, for `targetServer`. */
export const SERVER_FLAGS = {
  ...CONFIG_FLAG,
  url: { value: 'URL', text: 'URL of the server (default: that of the configuration)' },
  key: {
    value: 'KEY',
    text: 'API key (default: the first of AGENT_SERVER_API_KEYS; for the configured server, else its first key)',
  },
} as const satisfies Record<string, Flag>;

export const ROLE_FLAG = {
  role: {
    value: 'ROLE',
    text: 'api, worker or all: what this process does; api and worker require PostgreSQL',
  },
} as const satisfies Record<string, Flag>;

export const ADDRESS_FLAGS = {
  port: { value: 'N', text: 'port to listen on' },
  host: { value: 'H', text: 'address to listen on' },
} as const satisfies Record<string, Flag>;

/** Parses the flags in `args`; `undefined` for `--help`. Throws `UsageError`. */
export function parseFlags(command: Command, args: readonly string[]): FlagValues | undefined {
  const flags: Record<string, Flag> = { ...command.flags, help: { text: '' } };
  const { tokens } = parseArgs({
    args: args.map((arg) => (arg === '-h' ? '--help' : arg)),
    options: Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, optionOf(flag)])),
    strict: false,
    tokens: true,
  });
  const values: Record<string, string> = {};
  const waiting = [...(command.args ?? [])];
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    const argument = token.kind === 'positional' ? waiting.shift() : undefined;
    const problem = argument === undefined ? problemWith(token, flags) : undefined;
    if (problem !== undefined) throw new UsageError(`${command.name}: ${problem}`);
    if (token.kind === 'option') values[token.name] = token.value ?? 'true';
    else if (argument !== undefined) values[argument.name] = token.value;
  }
  if (values['help'] !== undefined) return undefined;
  const missing = waiting.find(({ required }) => required);
  if (missing !== undefined)
    throw new UsageError(`${command.name}: <${missing.name}> is required: ${missing.text}`);
  return values;
}

function optionOf(flag: Flag) {
  const { short } = flag;
  return { type: typeOf(flag), ...(short !== undefined && { short }) };
}

function typeOf({ value }: Flag): 'boolean' | 'string' {
  return value === undefined ? 'boolean' : 'string';
}

type Token =
  | { kind: 'positional'; value: string }
  | { kind: 'option'; name: string; rawName: string; value?: string | undefined };

function problemWith(token: Token, flags: Readonly<Record<string, Flag>>): string | undefined {
  if (token.kind === 'positional') return `unexpected argument "${token.value}"`;
  const { name, rawName, value } = token;
  const flag = flags[name];
  if (flag === undefined) {
    const meant = didYouMean(
      rawName,
      Object.keys(flags).map((known) => `--${known}`),
    );
    return `unknown flag ${rawName}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  }
  if (typeOf(flag) === 'boolean') return value === undefined ? undefined : `${rawName} takes no value`;
  return value ? undefined : `${rawName} needs a value`;
}

function helpOf(command: Command): string {
  const flags = Object.entries(command.flags).map(([name, { value, short, text, required }]) => {
    const flag = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
    return { usage: required ? flag : `[${flag}]`, row: [flag, text] };
  });
  const args = (command.args ?? []).map(({ name, text, required }) => {
    const usage = required ? `<${name}>` : `[${name}]`;
    return { usage, row: [usage, text] };
  });
  const words = [...args, ...flags];
  const usage = words.map((word) => ` ${word.usage}`).join('');
  const lines = [
    `Usage: agent-server ${command.name}${usage}`,
    '',
    `${command.summary}.`,
    '',
    ...columns(words.map(({ row }) => row)),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

/** Formats two columns, the second aligned. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(0, ...rows.map(([first = '']) => first.length));
  return rows.map(([first = '', second = '']) => `  ${first.padEnd(width)}  ${second}`);
}

/** Help of the program, of a command group such as `keys`, or of one command; `undefined` for an unknown name. */
export function helpFor(commands: readonly Command[], name?: string): string | undefined {
  if (name === undefined) return commandList(commands, '<command> [flags]');
  const command = commands.find((known) => known.name === name);
  if (command !== undefined) return helpOf(command);
  const group = groupOf(commands, name);
  return group.length === 0 ? undefined : commandList(group, `${name} <command> [flags]`);
}

/** The two-word commands that begin with this word. */
export function groupOf(commands: readonly Command[], word: string): Command[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `));
}

/** All help texts by name; the program's is `''`. */
export function allHelp(commands: readonly Command[]): Record<string, string | undefined> {
  const names = new Set(commands.flatMap(({ name }) => [...name.split(' ').slice(0, 1), name]));
  return Object.fromEntries([
    ['', helpFor(commands)],
    ...[...names].map((name) => [name, helpFor(commands, name)]),
  ]);
}

function commandList(commands: readonly Command[], usage: string): string {
  const rows = commands.map(({ name, summary }) => [name, summary]);
  return `${[`Usage: agent-server ${usage}`, '', ...columns(rows), '', 'agent-server <command> --help lists its flags.'].join('\n')}\n`;
}

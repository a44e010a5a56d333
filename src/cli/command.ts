import { parseArgs } from 'node:util';
import { nearest } from '../core/nearest.ts';

/** A flag of a command. */
export interface Flag {
  /** What stands for the value in the help; without it the flag takes none. */
  readonly value?: string;
  readonly text: string;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly flags: Readonly<Record<string, Flag>>;
  /** Resolves to the exit code: 0 clean, 1 failure, 2 bad usage or configuration (DESIGN §2). */
  run(values: FlagValues): Promise<number>;
}

/** The given flags; one without a value is `'true'`. */
export type FlagValues = Readonly<Record<string, string | undefined>>;

/** The command line is wrong. The message is one line that says how. */
export class UsageError extends Error {}

export const CONFIG_FLAG = {
  config: { value: 'FILE', text: 'configuration file; else agent.config.yaml, else langgraph.json' },
} as const satisfies Record<string, Flag>;

export const ADDRESS_FLAGS = {
  port: { value: 'N', text: 'port to listen on' },
  host: { value: 'H', text: 'address to listen on' },
} as const satisfies Record<string, Flag>;

/** The values of the flags in `args`; undefined when help is asked for. Throws `UsageError`. */
export function parseFlags(command: Command, args: readonly string[]): FlagValues | undefined {
  const options = Object.fromEntries(
    Object.entries({ ...command.flags, help: { text: '' } }).map(([name, flag]: [string, Flag]) => [
      name,
      { type: flag.value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const help = { ...options, help: { type: 'boolean' as const, short: 'h' } };
  const { tokens } = parseArgs({ args: [...args], options: help, strict: false, tokens: true });
  const values: Record<string, string> = {};
  for (const token of tokens) {
    if (token.kind === 'positional')
      throw new UsageError(`${command.name}: unexpected argument "${token.value}"`);
    if (token.kind !== 'option') continue;
    const known = options[token.name];
    if (known === undefined) throw new UsageError(unknownFlag(command, token.rawName));
    if (known.type === 'string' && !token.value)
      throw new UsageError(`${command.name}: ${token.rawName} needs a value`);
    if (known.type === 'boolean' && token.value !== undefined) {
      throw new UsageError(`${command.name}: ${token.rawName} takes no value`);
    }
    values[token.name] = token.value ?? 'true';
  }
  return values['help'] === undefined ? values : undefined;
}

function unknownFlag(command: Command, given: string): string {
  const meant = nearest(given, ['--help', ...Object.keys(command.flags).map((name) => `--${name}`)]);
  return `${command.name}: unknown flag ${given}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

/** The help of one command. */
export function helpOf(command: Command): string {
  const rows = Object.entries(command.flags).map(([name, { value, text }]) => [
    `--${name}${value === undefined ? '' : ` ${value}`}`,
    text,
  ]);
  const usage = rows.map(([flag]) => ` [${flag}]`).join('');
  return `${[`Usage: agent-server ${command.name}${usage}`, '', `${command.summary}.`, '', ...columns(rows)].join('\n').trimEnd()}\n`;
}

/** Two columns, the second aligned. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(0, ...rows.map(([first = '']) => first.length));
  return rows.map(([first = '', second = '']) => `  ${first.padEnd(width)}  ${second}`);
}

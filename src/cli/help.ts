import { type Command, columns, helpOf } from './command.ts';

/** The help of the program, of a group of commands such as `keys`, or of one command; undefined for any other name. */
export function helpFor(commands: readonly Command[], name?: string): string | undefined {
  if (name === undefined) return list(commands, '<command> [flags]');
  const command = commands.find((known) => known.name === name);
  if (command !== undefined) return helpOf(command);
  const group = groupOf(commands, name);
  return group.length === 0 ? undefined : list(group, `${name} <command> [flags]`);
}

/** The commands whose first word this is, when they have two. */
export function groupOf(commands: readonly Command[], word: string): Command[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `));
}

/** Every help there is by what it is the help of; the one of the program is `''`. */
export function allHelp(commands: readonly Command[]): Record<string, string | undefined> {
  const names = new Set(commands.flatMap(({ name }) => [...name.split(' ').slice(0, 1), name]));
  return Object.fromEntries([
    ['', helpFor(commands)],
    ...[...names].map((name) => [name, helpFor(commands, name)]),
  ]);
}

function list(commands: readonly Command[], usage: string): string {
  const rows = commands.map(({ name, summary }) => [name, summary]);
  return `${[`Usage: agent-server ${usage}`, '', ...columns(rows), '', 'agent-server <command> --help lists its flags.'].join('\n')}\n`;
}

import { disableBackgroundCallbacks } from '../config/env.ts';
import { didYouMean } from '../core/did-you-mean.ts';
import { type Command, groupOf, helpFor, parseFlags, UsageError } from './command.ts';
import { withOutput } from './output.ts';
import { reportError } from './report-error.ts';

/** Conventional flags that stand for a command. */
const ALIASES: Record<string, string> = { '--version': 'version', '-v': 'version' };

/** Runs the command line. Resolves to the exit code: 0 success, 1 failure, 2 invalid usage or config. */
export async function main(args: readonly string[]): Promise<number> {
  // Before any command loads LangChain, which reads the variable only once.
  disableBackgroundCallbacks();
  return await withOutput(() => dispatch(args).catch(reportError));
}

async function dispatch([first, ...rest]: readonly string[]): Promise<number> {
  const commands = await commandsFor(first);
  const [given, args] = commandIn(commands, first, rest);
  if (given === undefined || isHelp(given)) return print(helpFor(commands), given === undefined ? 2 : 0);
  const name = ALIASES[given] ?? given;
  const command = commands.find((known) => known.name === name);
  if (command === undefined) {
    if (args.length === 1 && isHelp(args[0] as string) && groupOf(commands, name).length > 0)
      return print(helpFor(commands, name), 0);
    throw unknownCommand(commands, name);
  }
  const values = parseFlags(command, args);
  return values === undefined ? print(helpFor(commands, name), 0) : await command.run(values);
}

/** A server starts without the modules of all other commands. */
async function commandsFor(first: string | undefined): Promise<readonly Command[]> {
  if (first === 'start') return [(await import('./commands/start.ts')).start];
  return (await import('./all-commands.ts')).COMMANDS;
}

function isHelp(word: string): boolean {
  return ['help', '--help', '-h'].includes(word);
}

function print(text: string | undefined, code: number): number {
  process.stdout.write(text ?? '');
  return code;
}

function unknownCommand(commands: readonly Command[], name: string): UsageError {
  const longer = groupOf(commands, name).map((known) => known.name);
  if (longer.length > 0) return new UsageError(`${name} requires a subcommand: ${longer.join(', ')}`);
  const known = commands.map((command) => command.name);
  const meant = didYouMean(name, known);
  return new UsageError(
    `unknown command ${name}${meant === undefined ? '' : `; did you mean ${meant}?`} (agent-server --help lists all)`,
  );
}

/** Some commands have two words. */
function commandIn(
  commands: readonly Command[],
  first: string | undefined,
  [second, ...rest]: readonly string[],
): [string | undefined, readonly string[]] {
  if (second === undefined) return [first, []];
  const both = `${first} ${second}`;
  return commands.some(({ name }) => name === both) ? [both, rest] : [first, [second, ...rest]];
}

import { disableBackgroundCallbacks } from '../config/env.ts';
import { didYouMean } from '../core/did-you-mean.ts';
import { type Command, groupOf, helpFor, parseFlags, UsageError } from './command.ts';
import { ask } from './commands/ask.ts';
import { backup, restore } from './commands/backup.ts';
import { check } from './commands/check.ts';
import { copy } from './commands/copy.ts';
import { deploy } from './commands/deploy.ts';
import { REPOSITORY_COMMANDS } from './commands/deployment-repositories.ts';
import { DEPLOYMENT_COMMANDS } from './commands/deployments.ts';
import { dev } from './commands/dev.ts';
import { doctor } from './commands/doctor.ts';
import { rotateEncryption } from './commands/encryption.ts';
import { explain } from './commands/explain.ts';
import { init } from './commands/init.ts';
import { createKey, listKeys, revokeKey } from './commands/keys.ts';
import { logs } from './commands/logs.ts';
import { migrate } from './commands/migrate.ts';
import { openapi } from './commands/openapi.ts';
import { start } from './commands/start.ts';
import { version } from './commands/version.ts';
import { withOutput } from './output.ts';
import { reportError } from './report-error.ts';

export const COMMANDS: readonly Command[] = [
  init,
  dev,
  start,
  ask,
  logs,
  explain,
  check,
  migrate,
  doctor,
  createKey,
  listKeys,
  revokeKey,
  rotateEncryption,
  backup,
  restore,
  copy,
  deploy,
  ...DEPLOYMENT_COMMANDS,
  ...REPOSITORY_COMMANDS,
  openapi,
  version,
];

/** Conventional flags that stand for a command. */
const ALIASES: Record<string, string> = { '--version': 'version', '-v': 'version' };

/** Runs the command line. Resolves to the exit code: 0 success, 1 failure, 2 invalid usage or config (DESIGN §2). */
export async function main(args: readonly string[]): Promise<number> {
  // Before any command loads LangChain, which reads the variable only once.
  disableBackgroundCallbacks();
  return await withOutput(() => dispatch(args).catch(reportError));
}

async function dispatch([first, ...rest]: readonly string[]): Promise<number> {
  const [given, args] = commandIn(first, rest);
  if (given === undefined || isHelp(given)) return print(helpFor(COMMANDS), given === undefined ? 2 : 0);
  const name = ALIASES[given] ?? given;
  const command = COMMANDS.find((known) => known.name === name);
  if (command === undefined) {
    if (args.length === 1 && isHelp(args[0] as string) && groupOf(COMMANDS, name).length > 0)
      return print(helpFor(COMMANDS, name), 0);
    throw unknownCommand(name);
  }
  const values = parseFlags(command, args);
  return values === undefined ? print(helpFor(COMMANDS, name), 0) : await command.run(values);
}

function isHelp(word: string): boolean {
  return ['help', '--help', '-h'].includes(word);
}

function print(text: string | undefined, code: number): number {
  process.stdout.write(text ?? '');
  return code;
}

function unknownCommand(name: string): UsageError {
  const longer = groupOf(COMMANDS, name).map((known) => known.name);
  if (longer.length > 0) return new UsageError(`${name} requires a subcommand: ${longer.join(', ')}`);
  const known = COMMANDS.map((command) => command.name);
  const meant = didYouMean(name, known);
  return new UsageError(
    `unknown command ${name}${meant === undefined ? '' : `; did you mean ${meant}?`} (agent-server --help lists all)`,
  );
}

/** Some commands have two words. */
function commandIn(
  first: string | undefined,
  [second, ...rest]: readonly string[],
): [string | undefined, readonly string[]] {
  if (second === undefined) return [first, []];
  const both = `${first} ${second}`;
  return COMMANDS.some(({ name }) => name === both) ? [both, rest] : [first, [second, ...rest]];
}

import { awaitLangChainCallbacks } from '../config/env.ts';
import { nearest } from '../core/nearest.ts';
import { type Command, columns, helpOf, parseFlags, UsageError } from './command.ts';
import { check } from './commands/check.ts';
import { dev } from './commands/dev.ts';
import { rotateEncryption } from './commands/encryption.ts';
import { createKey, listKeys, revokeKey } from './commands/keys.ts';
import { openapi } from './commands/openapi.ts';
import { start } from './commands/start.ts';
import { version } from './commands/version.ts';
import { explain } from './explain.ts';
import { withOutput } from './output.ts';

const COMMANDS: readonly Command[] = [
  dev,
  start,
  check,
  createKey,
  listKeys,
  revokeKey,
  rotateEncryption,
  openapi,
  version,
];

/** Other ways people ask for a command. */
const ALIASES: Record<string, string> = { '--version': 'version', '-v': 'version' };

/** Runs the command line. Resolves to the exit code: 0 clean, 1 failure, 2 bad usage or configuration (DESIGN §2). */
export async function main(args: readonly string[]): Promise<number> {
  // Here because commands load LangChain with the graphs, and it reads the variable only once.
  awaitLangChainCallbacks();
  return await withOutput(() => dispatch(args).catch(explain));
}

async function dispatch([first, ...rest]: readonly string[]): Promise<number> {
  const [given, args] = commandIn(first, rest);
  if (given === undefined || given === 'help' || given === '--help' || given === '-h') {
    process.stdout.write(overview());
    return given === undefined ? 2 : 0;
  }
  const name = ALIASES[given] ?? given;
  const command = COMMANDS.find((known) => known.name === name);
  if (command === undefined) {
    const longer = COMMANDS.filter((known) => known.name.startsWith(`${name} `)).map((known) => known.name);
    if (longer.length > 0) throw new UsageError(`${name} needs another word: ${longer.join(', ')}`);
    const meant = nearest(
      name,
      COMMANDS.map((known) => known.name),
    );
    throw new UsageError(
      `unknown command ${name}${meant === undefined ? '' : `; did you mean ${meant}?`} (agent-server --help lists all)`,
    );
  }
  const values = parseFlags(command, args);
  if (values !== undefined) return await command.run(values);
  process.stdout.write(helpOf(command));
  return 0;
}

/** A few commands are two words. */
function commandIn(
  first: string | undefined,
  [second, ...rest]: readonly string[],
): [string | undefined, readonly string[]] {
  if (second === undefined) return [first, []];
  const both = `${first} ${second}`;
  return COMMANDS.some(({ name }) => name === both) ? [both, rest] : [first, [second, ...rest]];
}

function overview(): string {
  const rows = COMMANDS.map(({ name, summary }) => [name, summary]);
  return `${['Usage: agent-server <command> [flags]', '', ...columns(rows), '', 'agent-server <command> --help lists its flags.'].join('\n')}\n`;
}

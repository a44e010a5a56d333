import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface CommandOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Milliseconds after which a command is stuck: installing takes tens of seconds, building an image two minutes, and ten times
 * that on a machine with much else to do.
 */
const LIMIT = 900_000;

/**
 * Runs a command to its end and returns what it printed. Throws with all its output when it fails or does not end
 * in time: the limit of a test would not say which of its commands was stuck.
 */
export async function command(
  name: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<string> {
  const child = spawn(name, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const ended = new Promise<number | null>((resolve, reject) =>
    child.on('close', resolve).on('error', reject),
  );
  // A group of its own, because npm's children would keep the pipes open.
  const limit = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), LIMIT);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]).finally(
    () => clearTimeout(limit),
  );
  if (code !== 0)
    throw new Error(`${name} ${args.join(' ')} ended with ${code ?? 'SIGKILL'}:\n${stdout}${stderr}`);
  return stdout;
}

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface CommandOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a command to its end and returns what it printed. Throws with all its output when it fails. */
export async function command(
  name: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<string> {
  const child = spawn(name, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) =>
    child.on('close', resolve).on('error', reject),
  );
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`${name} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

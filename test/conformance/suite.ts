import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A suite of others that judges the server. */
export interface Suite {
  readonly name: string;
  /** Settings of the server that it judges, over the configuration of the fixtures. */
  readonly env?: Readonly<Record<string, string>>;
  /** True when the server at `url` does all that it should. `output`: an empty folder for reports. */
  passes(url: string, output: string): Promise<boolean>;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command, whose words go where ours go. True when it ends well. */
export async function succeeds([file = '', ...args]: readonly string[], { cwd, env }: CommandOptions = {}) {
  const options = { ...(cwd === undefined ? {} : { cwd }), env: { ...process.env, ...env } };
  const [code] = await once(spawn(file, args, { stdio: 'inherit', ...options }), 'close');
  return code === 0;
}

/** Like `succeeds`, for what nothing goes without. Throws with the command. */
export async function mustSucceed(command: readonly string[], options?: CommandOptions): Promise<void> {
  if (!(await succeeds(command, options))) throw new Error(`failed: ${command.join(' ')}`);
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { InstalledProject } from './project.ts';

export interface Serving extends AsyncDisposable {
  readonly url: string;
  /** Asks it to end; resolves to the exit code. */
  stop(): Promise<number | null>;
}

/** `agent-server start` in a project, ready to be asked. Not by npx, which does not pass on signals. */
export async function serving({ root, env }: InstalledProject): Promise<Serving> {
  const child = spawn('node_modules/.bin/agent-server', ['start'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const ready = Promise.withResolvers<string>();
  createInterface(child.stdout).on('line', (line) => {
    const { message, url } = JSON.parse(line);
    if (message === 'ready') ready.resolve(url);
  });
  const url = await Promise.race([ready.promise, exited.then(() => undefined)]);
  if (url === undefined) throw new Error(`agent-server start ended with ${child.exitCode}`);
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      return child.exitCode;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) child.kill('SIGKILL');
      await exited;
    },
  };
}

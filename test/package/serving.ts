import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { InstalledProject } from './project.ts';

const DIRECT = 'node_modules/.bin/agent-server start';

export interface Serving extends AsyncDisposable {
  readonly url: string;
  /** Asks it to end; resolves to the exit code. */
  stop(): Promise<number | null>;
}

/**
 * `agent-server start` in a project, ready to be asked. Not by npx, which does not pass on signals: with another `line`
 * there is no `stop`, and disposal kills the whole process group.
 */
export async function serving({ root, env }: InstalledProject, line = DIRECT): Promise<Serving> {
  const child = spawn('sh', ['-c', `exec ${line}`], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const exited = once(child, 'exit');
  const ready = Promise.withResolvers<string>();
  createInterface(child.stdout).on('line', (text) => {
    // A package manager may print lines of its own.
    if (!text.startsWith('{')) return;
    const { message, url } = JSON.parse(text);
    if (message === 'ready') ready.resolve(url);
  });
  const url = await Promise.race([ready.promise, exited.then(() => undefined)]);
  if (url === undefined) throw new Error(`${line} ended with ${child.exitCode}`);
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      return child.exitCode;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGKILL');
      await exited;
    },
  };
}

export function post(
  { url }: Serving,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

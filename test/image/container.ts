import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ContainerCommand } from './engine.ts';

export interface Container extends AsyncDisposable {
  /** Asks it to end; resolves to the exit code. */
  stop(): Promise<number | null>;
}

/** Runs a container until the log of its server says that it is ready. */
export async function startContainer({ name, args }: ContainerCommand): Promise<Container> {
  const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const ready = Promise.withResolvers<true>();
  createInterface(child.stdout).on('line', (line) => {
    if (line.includes('"message":"ready"')) ready.resolve(true);
  });
  if (!(await Promise.race([ready.promise, exited.then(() => false)])))
    throw new Error(`The container ended with ${child.exitCode} before it was ready.`);
  return {
    async stop() {
      child.kill('SIGTERM');
      await exited;
      return child.exitCode;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) child.kill('SIGTERM');
      await exited;
    },
  };
}

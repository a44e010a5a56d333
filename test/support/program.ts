import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { KEEPS_COMPILED } from './compiled.ts';

export const PROGRAM = join(resolve(import.meta.dirname, '../..'), 'bin/agent-server.mjs');

export interface ProgramOptions {
  readonly cwd?: string;
  /** Another release of it. */
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What is typed; nobody is there after it. */
  readonly input?: string;
}

export interface Ended {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line in a process of its own, with an environment that holds nothing but `env`. */
export function program(
  args: readonly string[],
  { cwd, env, input = '', program: file = PROGRAM }: ProgramOptions = {},
): ChildProcessByStdio<Writable, Readable, Readable> {
  const child = spawn(process.execPath, [...KEEPS_COMPILED, file, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...env },
    ...(cwd !== undefined && { cwd }),
  });
  // It may end without having read it.
  child.stdin.on('error', () => {}).end(input);
  return child;
}

/** Runs the command line to its end. */
export async function agentServer(args: readonly string[], options?: ProgramOptions): Promise<Ended> {
  const child = program(args, options);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: child.exitCode, stdout, stderr };
}

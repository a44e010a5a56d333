import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Ended } from './program.ts';

/** An official command line tool: its program, and the arguments that come before all others. */
export type OfficialCli = readonly [program: string, ...args: string[]];

export interface CliOptions {
  readonly cwd: string;
  /** Called with all that it has printed so far, whenever it prints; it is interrupted once this returns true. */
  readonly isEnough?: (stdout: string) => boolean;
}

/** Runs it to its end, with nobody to ask, and without the statistics that it would send. */
export async function officialCli(
  [program, ...first]: OfficialCli,
  args: readonly string[],
  { cwd, isEnough = () => false }: CliOptions,
): Promise<Ended> {
  const child = spawn(program, [...first, ...args], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: cwd,
      NO_COLOR: '1',
      PYTHONUNBUFFERED: '1',
      LANGGRAPH_CLI_NO_ANALYTICS: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let isInterrupted = false;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    if (isInterrupted || !isEnough(stdout)) return;
    isInterrupted = child.kill('SIGINT');
  });
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { programFile } from '../../core/package-files.ts';
import { debuggedAsHost } from './debugger.ts';

const PROGRAM = programFile('hosts/host/main');

/** Starts the process of a host, with the pipes of `protocol/descriptors.ts`. Throws if none can be started now. */
export function spawnHost(env: NodeJS.ProcessEnv, lease_fd: number | undefined): ChildProcess {
  const flags = debuggedAsHost(flagsOfProgram(process.execArgv));
  const child = spawn(process.execPath, [...flags, PROGRAM], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', lease_fd ?? 'ignore'],
  });
  // The end of the host reports it too.
  child.on('error', () => {});
  // Node creates no pipes if it cannot open the file descriptors for all of them.
  if (child.stdio === undefined) throw new Error('Too many files are open.');
  return child;
}

/** Flags of Node for another program: without code that is itself a program, with which each host would be a server. */
export function flagsOfProgram(flags: readonly string[]): string[] {
  const code = flags.findIndex((flag) => /^(?:-e|-p|-pe|--eval|--print)$/.test(flag));
  const others = code === -1 ? [...flags] : flags.toSpliced(code, 2);
  return others.filter((flag) => !/^--(?:eval|print|input-type)=/.test(flag));
}

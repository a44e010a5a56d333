import { BuildFailure, type BuildStep } from '../build-failure.ts';

/** Why the server ended a command. */
export type Stop = 'aborted' | 'time_limit' | 'memory_limit' | 'disk_limit' | 'process_limit';

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stopped?: Stop | undefined;
}

/** Exit codes of shells and of bubblewrap for a child that a signal ended: 128 and the number of the signal. */
const SIGNAL_CODES: Readonly<Record<number, NodeJS.Signals>> = { 137: 'SIGKILL', 153: 'SIGXFSZ' };

const TEXTS: Readonly<Record<Stop, (doing: string) => { message: string; hint: string }>> = {
  aborted: (doing) => ({
    message: `The build was interrupted while ${doing}.`,
    hint: 'Deploy again when you are ready.',
  }),
  time_limit: (doing) => ({
    message: `The build reached its time limit while ${doing}.`,
    hint: 'Find what hangs or waits for input in the build log, or have the operator raise the limit.',
  }),
  memory_limit: (doing) => ({
    message: `The build reached its memory limit while ${doing}.`,
    hint: 'Make the build use less memory, or have the operator raise the limit.',
  }),
  disk_limit: (doing) => ({
    message: `The build reached its disk limit while ${doing}.`,
    hint: 'Remove large files and unused dependencies, or have the operator raise the limit.',
  }),
  process_limit: (doing) => ({
    message: `The build reached its limit of processes while ${doing}.`,
    hint: 'Check whether a script starts itself again and again; else run less at once, or have the operator raise the limit.',
  }),
};

/** The failure of a command that did not end by itself; `undefined` if it did. `doing` completes "while …". */
export function stopFailure(step: BuildStep, end: Ended, doing: string): BuildFailure | undefined {
  if (end.stopped) return stopped(step, end.stopped, doing);
  const signal = end.signal ?? SIGNAL_CODES[end.code ?? 0];
  // The kernel's answer to a file beyond the size limit.
  if (signal === 'SIGXFSZ') return stopped(step, 'disk_limit', doing);
  if (signal === undefined) return undefined;
  return new BuildFailure(step, {
    code: 'killed',
    message: `A process was ended by ${signal} while ${doing}.`,
    hint: 'Unless it was killed on purpose, the machine ran out of memory: add memory, and deploy again.',
  });
}

export function stopped(step: BuildStep, stop: Stop, doing: string): BuildFailure {
  return new BuildFailure(step, { code: stop, ...TEXTS[stop](doing) });
}

/** Which stop an abort signal stands for: it has timed out, or somebody aborted it. */
export function stopOf(signal: AbortSignal): Stop {
  return (signal.reason as Error | undefined)?.name === 'TimeoutError' ? 'time_limit' : 'aborted';
}

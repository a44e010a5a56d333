import { BuildFailure, type BuildStep } from '../build-failure.ts';

/** Why the server killed a command. */
export type Stop = 'aborted' | 'time_limit' | 'memory_limit' | 'disk_limit' | 'process_limit';

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stopped?: Stop | undefined;
}

/** Shells and bubblewrap report a child that a signal killed as exit code 128 plus the signal number. */
const SIGNAL_CODES: Readonly<Record<number, NodeJS.Signals>> = { 137: 'SIGKILL', 153: 'SIGXFSZ' };

const TEXTS: Readonly<Record<Stop, (doing: string) => { message: string; hint: string }>> = {
  aborted: (doing) => ({
    message: `The build was interrupted while ${doing}.`,
    hint: 'Deploy again when you are ready.',
  }),
  time_limit: (doing) => ({
    message: `The build reached its time limit while ${doing}.`,
    hint: 'Look in the build log for what hangs or waits for input, or have the operator raise the limit.',
  }),
  memory_limit: (doing) => ({
    message: `The build reached its memory limit while ${doing}.`,
    hint: 'Reduce the memory use of the build, or have the operator raise the limit.',
  }),
  disk_limit: (doing) => ({
    message: `The build reached its disk limit while ${doing}.`,
    hint: 'Remove large files and unused dependencies, or have the operator raise the limit.',
  }),
  process_limit: (doing) => ({
    message: `The build reached its process limit while ${doing}.`,
    hint: 'Check for a script that starts itself repeatedly, run fewer tasks at once, or have the operator raise the limit.',
  }),
};

/** Failure of a command that was stopped or killed; `undefined` if it exited by itself. `doing` completes "while …". */
export function stopFailure(step: BuildStep, end: Ended, doing: string): BuildFailure | undefined {
  if (end.stopped) return stopped(step, end.stopped, doing);
  const signal = end.signal ?? SIGNAL_CODES[end.code ?? 0];
  // The kernel sends this signal when a file exceeds the size limit.
  if (signal === 'SIGXFSZ') return stopped(step, 'disk_limit', doing);
  if (signal === undefined) return undefined;
  return new BuildFailure(step, {
    code: 'killed',
    message: `A process was killed by ${signal} while ${doing}.`,
    hint: 'Unless somebody killed it on purpose, the machine ran out of memory: add memory and deploy again.',
  });
}

export function stopped(step: BuildStep, stop: Stop, doing: string): BuildFailure {
  return new BuildFailure(step, { code: stop, ...TEXTS[stop](doing) });
}

/** Whether the abort signal timed out or was aborted. */
export function stopOf(signal: AbortSignal): Stop {
  return (signal.reason as Error | undefined)?.name === 'TimeoutError' ? 'time_limit' : 'aborted';
}

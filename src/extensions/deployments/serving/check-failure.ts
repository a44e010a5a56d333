import { RevisionError } from '../services/builder.ts';

/**
 * The error of a revision that cannot serve. `what`: the problem, the beginning of a sentence; `advice`: what to do, a
 * sentence.
 */
export interface CheckFailure {
  readonly code: string;
  readonly what: string;
  readonly advice: string;
  readonly cause?: unknown;
}

export function checkFailure({ code, what, advice, cause }: CheckFailure, step = 'check'): RevisionError {
  return new RevisionError(step, code, `${sentence(what)} ${advice}`, { cause });
}

/** The reason in an error message, without the prefix that repeats the context. */
export function reasonOf(error: unknown): string {
  const [line = ''] = (error as Error).message.split('\n');
  return line.replace(/^Graph '[^']*' failed to load: /, '').replace(/; see the server log\.?$/, '');
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

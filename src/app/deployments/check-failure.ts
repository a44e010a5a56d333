import { RevisionError } from '../../services/deployments/builder.ts';

/** A revision that cannot serve. `what` is wrong, as it begins a sentence; `advice`: what to do, as a sentence. */
export interface CheckFailure {
  readonly code: string;
  readonly what: string;
  readonly advice: string;
  readonly cause?: unknown;
}

export function checkFailure({ code, what, advice, cause }: CheckFailure, step = 'check'): RevisionError {
  return new RevisionError(step, code, `${sentence(what)} ${advice}`, { cause });
}

/** The reason that an error gives, without what has been said already. */
export function reasonOf(error: unknown): string {
  const [line = ''] = (error as Error).message.split('\n');
  return line.replace(/^Graph '[^']*' failed to load: /, '').replace(/; see the server log\.?$/, '');
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

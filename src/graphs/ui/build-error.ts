import type { BuildFailure } from 'esbuild';
import { ServerError } from '../../core/errors.ts';

/** Components that do not build. 422 as for a graph that does not load: nothing but a change to them helps. */
export class UiBuildError extends ServerError {
  readonly status = 422;
}

/** More would not help who reads it. */
const MAX_ERRORS = 5;

/** `cause` is a failure of the bundler, which knows places, or whatever kept it from working. */
export function buildError(name: string, cause: Error | BuildFailure): UiBuildError {
  const reasons = 'errors' in cause ? cause.errors.slice(0, MAX_ERRORS).map(placed) : [cause.message];
  return new UiBuildError(`UI '${name}' does not build: ${reasons.join('; ')}`, { cause });
}

/** The file is told from the project's folder. What is not in a file is in the program around it. */
function placed({ location, text }: BuildFailure['errors'][number]): string {
  return location?.file.includes('.')
    ? `${location.file}:${location.line}:${location.column}: ${text}`
    : text;
}

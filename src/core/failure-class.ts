import {
  InsufficientStorage,
  ProjectFailure,
  ServerError,
  StorageBusy,
  StorageRefused,
  StorageUnavailable,
  Unavailable,
} from './errors.ts';
import { toError } from './failure.ts';

/**
 * Whose failure it is:
 * - `project`: its code, or a service that its code calls;
 * - `client`: the request can never succeed; `later`: the client may send it again, because of a rate limit for example;
 * - `storage away`: the database cannot be reached; `storage busy`: it did not finish in time; `storage full`: no disk
 *   space is left; `storage refused`: it will never execute this statement;
 * - `server busy`: it starts, stops, has no graph host, or has too much to do;
 * - `unknown`: thrown by code that knows none of our classes. Around a graph that is the project, elsewhere a bug.
 */
export type FailureClass =
  | 'project'
  | 'client'
  | 'later'
  | 'storage away'
  | 'storage busy'
  | 'storage full'
  | 'storage refused'
  | 'server busy'
  | 'unknown';

/** Statuses of refusals that pass. */
const PASSING: readonly number[] = [408, 425, 429];

/**
 * Classifies any thrown value by the class that its origin gave it, never by its text or code: an `ECONNREFUSED` does not
 * tell who wanted to connect. What retries, charges, answers or logs a failure asks this function.
 */
export function failureClass(thrown: unknown): FailureClass {
  const error = toError(thrown);
  if (error instanceof StorageUnavailable) return 'storage away';
  if (error instanceof StorageBusy) return 'storage busy';
  if (error instanceof InsufficientStorage) return 'storage full';
  if (error instanceof StorageRefused) return 'storage refused';
  if (error instanceof Unavailable) return 'server busy';
  if (error instanceof ProjectFailure) return 'project';
  if (!(error instanceof ServerError)) return 'unknown';
  // An `HTTPException` of the project's handlers may have any status.
  if (error.status >= 500) return 'project';
  return PASSING.includes(error.status) ? 'later' : 'client';
}

const STORAGE: readonly FailureClass[] = ['storage away', 'storage busy', 'storage full'];

/** Storage cannot serve now: the same statements may succeed later, and nothing else is at fault. */
export function isStorageFailure(thrown: unknown): boolean {
  return STORAGE.includes(failureClass(thrown));
}

/** The server itself cannot serve now: the same request may succeed later. */
export function isTemporary(thrown: unknown): thrown is ServerError {
  return isStorageFailure(thrown) || failureClass(thrown) === 'server busy';
}

/** The same request will be refused again. */
export function isLastingRefusal(thrown: unknown): thrown is ServerError {
  return failureClass(thrown) === 'client';
}

/**
 * Every failure a client may see. Services throw these; one HTTP plugin renders them as `{"detail": …}`, and A2A and
 * MCP map the same classes to their own codes. The message is written for the client.
 */
export abstract class ServerError extends Error {
  abstract readonly status: number;
  /** Extra response headers, such as `Retry-After` (seconds). */
  readonly headers: Readonly<Record<string, string>> = {};

  constructor(detail: string, options?: { cause?: unknown }) {
    super(detail, options);
    this.name = new.target.name;
  }
}

/** The request was carried out only in part (contract §2.2 `supersteps`). */
export class PartlyDone extends ServerError {
  readonly status = 201;
}

/** The request contradicts itself although each field is well-formed (contract §1). */
export class BadRequest extends ServerError {
  readonly status = 400;
}

export class Unauthorized extends ServerError {
  readonly status = 401;
}

export class Forbidden extends ServerError {
  readonly status = 403;
}

export class NotFound extends ServerError {
  readonly status = 404;
}

/** For `.catch`: maps `NotFound` (deleted or not visible) to `undefined`; rethrows any other failure. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error;
}

export class Conflict extends ServerError {
  readonly status = 409;
}

/** The body exceeds the size limit. */
export class ContentTooLarge extends ServerError {
  readonly status = 413;
}

/** A field is missing, has the wrong type, or names something impossible (contract §1). */
export class InvalidInput extends ServerError {
  readonly status = 422;
}

/** The rate limit of the caller is exceeded; `retry_after` in seconds. */
export class TooManyRequests extends ServerError {
  readonly status = 429;
  override readonly headers: Readonly<Record<string, string>>;

  constructor(detail: string, retry_after: number) {
    super(detail);
    this.headers = { 'retry-after': String(retry_after) };
  }
}

/** The database or a worker cannot serve right now; the same request may succeed later. */
export class Unavailable extends ServerError {
  readonly status = 503;
  override readonly headers = { 'retry-after': '1' };
}

/** The database cannot be reached, or is about to stop. */
export class StorageUnavailable extends Unavailable {}

/**
 * The database is there, but did not finish this request: a lock, a time limit, or other transactions that change the
 * same rows. Another attempt may succeed.
 */
export class StorageBusy extends Unavailable {}

/** The database refused a statement for good, such as one that violates a constraint. Clients see a plain 500. */
export class StorageRefused extends Error {
  readonly code: string;

  constructor(cause: Error) {
    super(`the database refused a statement: ${cause.message}`, { cause });
    this.name = 'StorageRefused';
    this.code = codeOf(cause);
  }
}

/** The project's code, or a service that it calls, failed in a request: the embedder of the store, for example. */
export class ProjectFailure extends ServerError {
  readonly status = 503;
  override readonly headers = { 'retry-after': '1' };
}

/** The disk is full: reads work, writes fail. */
export class InsufficientStorage extends ServerError {
  readonly status = 507;
}

/** Whether it is an error of a full disk: that of the system, or ours. */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof InsufficientStorage) return true;
  return ['ENOSPC', 'EDQUOT'].includes(codeOf(error));
}

/** Code that the system or a database gave an error; empty without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Internal: the attempt that tried to write no longer holds its lease. Never reaches a client. */
export class LeaseLost extends Error {
  constructor(run_id: string) {
    super(`the lease of run ${run_id} is lost`);
    this.name = 'LeaseLost';
  }
}

/**
 * Internal: a crash or fail-over of the database lost commits that the attempt depends on. Like every storage failure
 * it ends the attempt, not the run. Never reaches a client.
 */
export class WritesLost extends StorageUnavailable {
  constructor(run_id: string) {
    super(`the database lost writes of the attempt of run ${run_id}`);
  }
}

/**
 * The clock of this process is behind the thread's newest checkpoint: a new one would sort before it, and what it holds
 * would be lost. A run is tried again later; a client is told when to ask again.
 */
export class ClockBehind extends Unavailable {
  /** By how much the clock is behind, ms. */
  readonly behind_ms: number;

  constructor(detail: string, behind_ms = 0) {
    super(detail);
    this.behind_ms = behind_ms;
    this.headers['retry-after'] = String(Math.max(1, Math.ceil(behind_ms / 1000)));
  }
}

/**
 * Internal: the graph host that executed a run, or answered a request, has ended. A run is tried again; a client is
 * told to ask again.
 */
export class HostLost extends Unavailable {
  /** False if the host ended for another run's sake, or because the server ended it: no attempt is charged. */
  readonly charge: boolean;

  constructor(detail: string, charge = true) {
    super(detail);
    this.charge = charge;
  }
}

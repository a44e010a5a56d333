import {
  codeOf,
  InsufficientStorage,
  InvalidInput,
  StorageBusy,
  StorageRefused,
  StorageUnavailable,
  Unavailable,
} from '../../core/errors.ts';
import { redactCredentials } from '../../core/redact.ts';

/** Connection exceptions, refused passwords, server shutting down or starting, too many connections, transaction timeouts. */
const UNAVAILABLE = /^(08|28|57P0|53300|25P0[34]|25006|PASSWORD_COMMAND)/;
/** The database is there, but did not get to it: short of a resource, `lock_timeout`, `statement_timeout`, and every retry lost a conflict. */
const LATE: Readonly<Record<string, string>> = {
  '40001': 'Other transactions kept changing the same rows. Try again.',
  '40P01': 'Other transactions kept locking the same rows. Try again.',
  '53200': 'The database is short of memory. Try again later.',
  '53400': 'The database is at a limit of its configuration. Try again later.',
  '58030': 'The database cannot read or write its files. Try again later.',
  '55P03': 'Another transaction holds a lock that this request needs. Try again.',
  '57014': 'The database did not finish this request in time. Try again later.',
};
/** Number out of range, invalid text, JSON nested too deep. SQLite accepts them and finds nothing. */
const INVALID_VALUE = /^(22003|22021|22P02|22P05|54001)/;
const NETWORK_ERROR = /^(ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH)/;
/** `pg` gives these errors no code. */
const CLIENT_ERROR =
  /connection terminated|timeout exceeded when trying to connect|read timeout|not queryable|after calling end/i;
const LOST_CONNECTION = /connection terminated(?! due)|not queryable/i;

/** Maps an error of PostgreSQL, or of its client library, to the one for the client. */
export function postgresError(error: unknown): unknown {
  const code = codeOf(error);
  if (code === '53100') return new InsufficientStorage('The disk of the database is full.', { cause: error });
  if (INVALID_VALUE.test(code))
    return new InvalidInput('The database cannot store a value of this request.', { cause: error });
  const late = LATE[code];
  if (late !== undefined) return new StorageBusy(late, { cause: error });
  if (isConnectionError(error) || UNAVAILABLE.test(code)) {
    return new StorageUnavailable('The database cannot be reached right now.', { cause: error });
  }
  return isSqlState(error) ? new StorageRefused(error) : error;
}

function isSqlState(error: unknown): error is Error {
  return error instanceof Error && /^(?=.*\d)[0-9A-Z]{5}$/.test(codeOf(error));
}

/** The connection is broken, of no use, or in an unknown state: do not reuse it. */
export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== '') return isLost(error) || /^25P0[34]/.test(code);
  return error instanceof Error && CLIENT_ERROR.test(error.message);
}

/**
 * The server went away, or became a replica (25006) in a fail-over: another connection may succeed at once. A timeout is not
 * one of these.
 */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== '') return NETWORK_ERROR.test(code) || /^(08|57P0|25006)/.test(code);
  return error instanceof Error && LOST_CONNECTION.test(error.message);
}

/** A host that cannot be used for now: another host of the URL may be. */
export function isHostFailure(error: unknown): boolean {
  return isLost(error) || (error instanceof Error && /due to connection timeout/i.test(error.message));
}

/**
 * The server closed the connection instead of executing what it was sent, so that even a write can be repeated. 57P01:
 * it ends a session only between statements or by aborting one, never after the commit of one without reporting it.
 */
export function isUnexecuted(error: unknown): boolean {
  return ['57P01', '25006', 'EPIPE'].includes(codeOf(error));
}

/** A password that was right may have expired. */
export function isPasswordRefused(error: unknown): boolean {
  return ['28P01', '28000'].includes(codeOf(error));
}

/** An error of a `Db` that waited for a lock for as long as `lock_timeout` allows. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Unavailable && codeOf(error.cause) === '55P03';
}

/** Deadlock or serialisation failure: rerunning the transaction may succeed. */
export function isRetriable(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error));
}

/** Reasons by code of the system, TLS or PostgreSQL; `…` stands for the error's message. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED/, 'connection refused, nothing listens there'],
  [/^(ENOTFOUND|EAI_)/, 'the host name cannot be resolved (DNS)'],
  [/^(EHOSTUNREACH|ENETUNREACH)/, 'there is no route to this host'],
  [/^ETIMEDOUT/, 'no answer in time'],
  [/^(ECONNRESET|ECONNABORTED|EPIPE)/, 'the connection was closed before it was ready'],
  [/CERT|^UNABLE_TO_|^ERR_(TLS|SSL)/, 'TLS: …'],
  [/^PASSWORD_COMMAND/, '… ("storage.password_command")'],
  [/^28/, 'user or password rejected: …'],
  [/^3D000/, '…; create it, or name another one'],
  [/^53300/, 'too many connections: …'],
  [/^42501/, '…; the user must be allowed to create tables'],
  [/^(08|57P0)/, '…'],
];

/** Errors of `pg` itself have no code. */
const CLIENT_REASONS: readonly (readonly [RegExp, string])[] = [
  [/timeout exceeded when trying to connect/i, 'no answer in time'],
  [/password must be a (?:non-empty )?string/i, 'a password is required, and the URL has none'],
  [/does not support SSL/i, 'TLS: …'],
  [/connection terminated/i, 'the connection was closed before it was ready'],
];

/** Names the address, the reason and the setting of a database that cannot be opened. */
export function postgresOpenError(url: string, error: unknown): unknown {
  const cause = error instanceof Unavailable || error instanceof StorageRefused ? error.cause : error;
  if (!(cause instanceof Error)) return error;
  const code = 'code' in cause ? String(cause.code) : '';
  const [known, text] = code === '' ? [CLIENT_REASONS, cause.message] : [REASONS, code];
  const reason = known.find(([pattern]) => pattern.test(text))?.[1].replace('…', () => cause.message);
  if (reason === undefined) return error;
  const detail = redactCredentials(`${url}: ${reason}`);
  return new Unavailable(`The database cannot be used. ${detail} ("storage.url", DATABASE_URI)`, { cause });
}

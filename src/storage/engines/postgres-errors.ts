import { InsufficientStorage, InvalidInput, Unavailable } from '../../core/errors.ts';

/** Connection exceptions, server shutting down or starting, too many connections, lock and statement timeouts. */
const UNAVAILABLE = /^(08|57P0|53300|55P03|57014|25P0[34]|25006)/;
/** A number out of range, text that is none, JSON too deep: SQLite takes them, and finds nothing. */
const UNFIT = /^(22003|22021|22P02|22P05|54001)/;
const NETWORK = /^(ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH)/;
/** `pg` gives these no code. */
const CLIENT =
  /connection terminated|timeout exceeded when trying to connect|read timeout|not queryable|after calling end/i;

/** What the client should hear of an error of PostgreSQL; what is our own fault stays as it is. */
export function postgresError(error: unknown): unknown {
  const code = codeOf(error);
  if (code === '53100') return new InsufficientStorage('The disk of the database is full.', { cause: error });
  if (UNFIT.test(code))
    return new InvalidInput('The database cannot hold a value of this request.', { cause: error });
  if (isConnectionError(error) || UNAVAILABLE.test(code)) {
    return new Unavailable('The database cannot be reached right now.', { cause: error });
  }
  return error;
}

/** The connection itself is broken, or in an unknown state: it must not be used again. */
export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== '') return NETWORK.test(code) || /^(08|57P0|25P0[34])/.test(code);
  return error instanceof Error && CLIENT.test(error.message);
}

/** A deadlock or a serialisation failure: the same transaction may succeed when it starts again. */
export function isRetriable(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

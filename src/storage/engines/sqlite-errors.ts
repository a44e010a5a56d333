import { InsufficientStorage, Unavailable } from '../../core/errors.ts';

/** What the client should hear of an error of SQLite; what is our own fault stays as it is. */
export function sqliteError(error: unknown): unknown {
  const code = codeOf(error);
  if (code === 'SQLITE_FULL') {
    return new InsufficientStorage('The disk of the database is full.', { cause: error });
  }
  if (/^SQLITE_(BUSY|LOCKED|IOERR|CANTOPEN|READONLY)/.test(code)) {
    return new Unavailable('The database cannot be used right now.', { cause: error });
  }
  return error;
}

export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY');
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

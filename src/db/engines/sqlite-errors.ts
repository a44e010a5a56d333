import { dirname } from 'node:path';
import {
  codeOf,
  InsufficientStorage,
  StorageRefused,
  StorageUnavailable,
  Unavailable,
} from '../../core/errors.ts';

/** Maps a SQLite error to the one for the client; an error of our own passes through unchanged. */
export function sqliteError(error: unknown): unknown {
  const code = codeOf(error);
  if (isDatabaseFull(error)) {
    return new InsufficientStorage('The disk of the database is full.', { cause: error });
  }
  if (/^SQLITE_(BUSY|LOCKED|IOERR|CANTOPEN|READONLY)/.test(code)) {
    return new StorageUnavailable('The database cannot be used right now.', { cause: error });
  }
  return error instanceof Error && code.startsWith('SQLITE_') ? new StorageRefused(error) : error;
}

/** Explains why the file in `path` cannot be opened, and what to do. */
export function sqliteOpenError(path: string, error: unknown): Unavailable {
  const code = codeOf(error);
  const other = 'Set another "storage.url" or AGENT_SERVER_DATA_DIR';
  const isDamaged = /^SQLITE_(CORRUPT|NOTADB)/.test(code);
  const way = isDamaged ? `${other}, or restore a backup with "agent-server restore"` : other;
  if (/^(EACCES|EPERM|EROFS|SQLITE_CANTOPEN|SQLITE_READONLY)/.test(code)) {
    const detail = `The database ${path} cannot be opened: no permission to write in ${dirname(path)} (${code})`;
    return new Unavailable(`${detail}. ${way}.`, { cause: error });
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new Unavailable(`The database ${path} cannot be opened: ${reason}. ${way}.`, { cause: error });
}

/** SQLite finds no room for its file. */
export function isDatabaseFull(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_FULL';
}

export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY');
}

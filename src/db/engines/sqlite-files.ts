import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { Unavailable } from '../../core/errors.ts';
import {
  assertOwnSchema,
  type Connection,
  connect,
  lockDatabase,
  resolveDatabaseFile,
} from './sqlite-connection.ts';
import { sqliteError, sqliteOpenError } from './sqlite-errors.ts';
import { assertExists } from './sqlite-snapshot.ts';

/** Files that SQLite and the server keep next to a database. */
const COMPANIONS = ['-wal', '-shm', '-journal', '.lock'];

/** Deletes a database that is not in use. */
export function removeSqlite(file: string): void {
  rmSync(file, { force: true });
  removeCompanions(file);
}

/** Reading a database, too, can leave files next to it. */
export function removeCompanions(file: string): void {
  for (const suffix of COMPANIONS) rmSync(`${file}${suffix}`, { force: true });
}

/**
 * Writes one moment of the database in `path`, even while a server uses it, to the new file `to`, readable only by its
 * owner: a single file without free pages, on disk when this returns. The online backup API would start over at each
 * write of the server. Throws `Unavailable` or `InsufficientStorage`.
 */
export function vacuumInto(path: string, to: string): void {
  removeSqlite(to);
  // SQLite accepts an empty file, and would create one that everybody can read.
  closeSync(openSync(to, 'wx', 0o600));
  using source = openExisting(path);
  try {
    source.connection.prepare('vacuum into ?').run(to);
  } catch (error) {
    throw sqliteError(error);
  }
  flush(to);
}

/** Leaves the write-ahead log, so that the database is one file; on disk when this returns. */
export function finishFile(file: string): void {
  leaveWal(file);
  rmSync(`${file}.lock`, { force: true });
  chmodSync(file, 0o600);
  flush(file);
}

/** Problems that SQLite finds in the file or its references, one line each, at most ten. Reads all of it. */
export function integrityProblems(path: string): string[] {
  using source = openExisting(path);
  try {
    return problemsOf(source.connection);
  } catch (error) {
    // Some damage ends the examination instead of being listed.
    const { code } = error as { code?: unknown };
    if (typeof code === 'string' && code.startsWith('SQLITE_CORRUPT')) return [(error as Error).message];
    throw error;
  }
}

function problemsOf(connection: Connection): string[] {
  const rows = connection.pragma('integrity_check(10)') as { integrity_check: string }[];
  const problems = rows.map((row) => row.integrity_check).filter((line) => line !== 'ok');
  const references = connection.pragma('foreign_key_check') as { table: string; parent: string }[];
  const missing = references.map(
    ({ table, parent }) => `a row of ${table} references a missing row of ${parent}`,
  );
  return [...problems, ...new Set(missing)].slice(0, 10);
}

/** Throws `Unavailable` if there is no such file, or if it is not a database of this server. */
function openExisting(path: string): Disposable & { readonly connection: Connection } {
  assertExists(path);
  try {
    const connection = connect(realpathSync(path), { readonly: true }, (opened) =>
      assertOwnSchema(opened, path),
    );
    return { connection, [Symbol.dispose]: () => void connection.close() };
  } catch (error) {
    throw error instanceof Unavailable ? error : sqliteOpenError(path, error);
  }
}

/** A database that no server can open until this is disposed. */
export interface HeldDatabase extends Disposable {
  /** Its real path. */
  readonly file: string;
  /** Contains no table of ours. */
  readonly is_empty: boolean;
  /**
   * Replaces it by another file of the same folder, atomically: a crash leaves the old or the new one. Throws
   * `Unavailable` if another process has it open.
   */
  replaceBy(other: string): void;
}

/** Creates a missing file. Throws `Unavailable` if a server has it. */
export function holdForReplacement(path: string): HeldDatabase {
  const file = resolveDatabaseFile(path);
  const lock = lockDatabase(file, path);
  return {
    file,
    is_empty: statSync(file).size === 0,
    replaceBy(other) {
      retire(file);
      const { mode, uid, gid } = statSync(file);
      chmodSync(other, mode);
      if (process.getuid?.() === 0) chownSync(other, uid, gid);
      renameSync(other, file);
      flush(dirname(file));
    },
    [Symbol.dispose]: () => void lock.close(),
  };
}

/**
 * Moves the write-ahead log into the database. SQLite applies any log that it finds next to a file, so it must be gone
 * before another file takes the name. A database too damaged for that loses its log.
 */
function retire(file: string): void {
  try {
    leaveWal(file, { timeout: 1000 });
  } catch (error) {
    const unavailable = sqliteError(error);
    if (unavailable instanceof Unavailable) throw unavailable;
  }
  for (const suffix of ['-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true });
}

function leaveWal(file: string, options: Database.Options = {}): void {
  const connection = new Database(file, options);
  try {
    connection.pragma('journal_mode = delete');
  } finally {
    connection.close();
  }
}

/** Flushes a file, or the entries of a folder, to disk. */
export function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Size of the write-ahead log, bytes; 0 if there is none. */
export function walBytes(path: string): number {
  return statSync(`${realpathSync(path)}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Moves the write-ahead log into the database and truncates it. Throws `Unavailable` if a reader prevents that. */
export function checkpointWal(path: string): void {
  const connection = new Database(realpathSync(path), { timeout: 5000 });
  try {
    const [row] = connection.pragma('wal_checkpoint(truncate)') as { busy: number }[];
    if (row?.busy)
      throw new Unavailable('A long read of the database prevents the truncation of its write-ahead log.');
  } finally {
    connection.close();
  }
}

/** Rewrites the file without free pages. Throws `Unavailable` if a server has it open. */
export function vacuumFile(path: string): void {
  const file = realpathSync(path);
  const lock = lockDatabase(file, path);
  try {
    const connection = connect(file, { readonly: false });
    try {
      connection.exec('vacuum');
    } finally {
      connection.close();
    }
  } finally {
    lock.close();
  }
}

/** The file of `sqlite:<path>`; `undefined` for PostgreSQL. */
export function sqlitePath(url: string): string | undefined {
  return /^sqlite:(.+)$/.exec(url)?.[1];
}

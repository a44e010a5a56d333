import { closeSync, existsSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { Unavailable } from '../../core/errors.ts';
import { makeFolder } from '../../core/make-folder.ts';
import { jsonTerms } from '../containment-terms.ts';
import { render, type Sql, type SqlValue } from '../sql.ts';
import { isBusy } from './sqlite-errors.ts';
import { jsonContains, jsonMerge, registerVectorFunctions } from './sqlite-functions.ts';

export type Connection = Database.Database;

/** How long a statement waits for another connection's lock, ms; it blocks the event loop meanwhile. */
const BUSY_TIMEOUT_MS = 5000;
/** A server that is being replaced needs a moment to close. */
const LOCK_TIMEOUT_MS = 1000;

/**
 * Opens the file, which must exist for a read-only connection, and registers the functions that our SQL calls. `check`
 * may throw before anything is changed.
 */
export function connect(
  path: string,
  options: { readonly: boolean },
  check: (connection: Connection) => void = () => {},
): Connection {
  const connection = new Database(path, { ...options, timeout: BUSY_TIMEOUT_MS });
  try {
    check(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
  if (!options.readonly) {
    connection.pragma('journal_mode = WAL');
    // `WalSync` flushes `sync` commits.
    connection.pragma('synchronous = NORMAL');
    connection.pragma('foreign_keys = ON');
    // Otherwise one long read leaves a WAL of its size on disk for good.
    connection.pragma('journal_size_limit = 67108864');
  }
  registerVectorFunctions(connection);
  connection.function('json_contains', { deterministic: true }, jsonContains());
  connection.function('json_terms', { deterministic: true }, jsonTerms);
  connection.function('json_merge', { deterministic: true }, jsonMerge);
  // SQLite's own `lower` is ASCII-only, and `strpos` is missing.
  connection.function('lower', { deterministic: true }, lower);
  connection.function('unicode_lower', { deterministic: true }, lower);
  connection.function(
    'strpos',
    { deterministic: true },
    (text, part) => String(text).indexOf(String(part)) + 1,
  );
  return connection;
}

function lower(text: unknown): unknown {
  return typeof text === 'string' ? text.toLowerCase() : text;
}

/** Excludes a second server from the database `file`, configured as `path`. */
export function lockDatabase(file: string, path: string): Connection {
  const lock_file = `${file}.lock`;
  const lock = lockFile(lock_file);
  if (lock) return lock;
  const detail = `Another server uses the database ${path} (it holds ${lock_file}).`;
  throw new Unavailable(`${detail} Stop that server, or set another "storage.url" for this one.`);
}

/**
 * Holds an exclusive transaction on a lock file until the connection closes; `undefined` if another holds it. Node has no
 * `flock`; SQLite's locks are the operating system's, released even after `kill -9`.
 */
export function lockFile(path: string): Connection | undefined {
  const lock = new Database(path, { timeout: LOCK_TIMEOUT_MS });
  try {
    lock.exec('begin exclusive');
    return lock;
  } catch (error) {
    lock.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

/** LRU bound: lists of ids produce ever new texts. */
const MAX_CACHED_STATEMENTS = 500;

/** Prepared statements of a connection, cached by text. */
export class Statements {
  readonly #connection: Connection;
  readonly #prepared = new LRUCache<string, Database.Statement>({ max: MAX_CACHED_STATEMENTS });

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  all<Row>(query: Sql<Row>): Row[] {
    const { text, values } = render(query, 'sqlite');
    return this.#prepare(text).all(...values.map(bindable)) as Row[];
  }

  get<Row>(query: Sql<Row>): Row | undefined {
    const { text, values } = render(query, 'sqlite');
    return this.#prepare(text).get(...values.map(bindable)) as Row | undefined;
  }

  run(query: Sql): number {
    const { text, values } = render(query, 'sqlite');
    return this.#prepare(text).run(...values.map(bindable)).changes;
  }

  #prepare(text: string): Database.Statement {
    const known = this.#prepared.get(text);
    if (known) return known;
    const statement = this.#connection.prepare(text);
    this.#prepared.set(text, statement);
    return statement;
  }
}

function bindable(value: SqlValue): Exclude<SqlValue, boolean> {
  return typeof value === 'boolean' ? Number(value) : value;
}

/**
 * Resolves the real database file, and creates it and its folder if missing: readable only by its owner, as is the WAL, to
 * which SQLite gives the same mode. SQLite resolves symbolic links and puts its WAL next to the real file; everything else
 * next to it must follow, above all the lock that excludes a second server. Throws `Unavailable` for a file with hard links:
 * each name would have its own WAL and lock, and concurrent writes under two names destroy the data.
 */
export function resolveDatabaseFile(path: string): string {
  makeFolder(dirname(path));
  // Also creates the target of a dangling link. Do not open an existing file: closing it would release the locks of all
  // connections that this process has to it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  const file = realpathSync(path);
  const found = statSync(file);
  const { nlink } = found;
  if (found.isDirectory()) {
    throw new Unavailable(
      `The database ${path} is a folder. Name a file, such as ${join(path, 'server.db')}.`,
    );
  }
  if (nlink <= 1) return file;
  const detail = `The database ${path} is a file with ${nlink} names (hard links)`;
  throw new Unavailable(`${detail}: remove the others, or use a copy of it. A symbolic link does no harm.`);
}

/** Throws `Unavailable` for the database of another program, before anything in it is changed. */
export function assertOwnSchema(connection: Connection, path: string): void {
  const count = (query: string) => connection.prepare(query).pluck().get() as number;
  const tables = count(
    `select count(*) from sqlite_master where type = 'table' and name not like 'sqlite_%'`,
  );
  if (tables === 0) return;
  // Other programs have a table of this name too.
  const known = count(`select count(*) from pragma_table_info('schema_migrations')
    where name in ('version', 'name', 'applied_at')`);
  if (known === 3) return;
  const detail = `The database ${path} belongs to another program: it has tables, but not those of this server`;
  throw new Unavailable(`${detail}. Set another "storage.url".`);
}

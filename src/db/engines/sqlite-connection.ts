import { closeSync, existsSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { Unavailable } from '../../core/errors.ts';
import { jsonTerms } from '../containment-terms.ts';
import { render, type Sql, type SqlValue } from '../sql.ts';
import { isBusy } from './sqlite-errors.ts';
import { jsonContains, jsonMerge, registerVectorFunctions } from './sqlite-functions.ts';

export type Connection = Database.Database;

/** How long a statement waits for another connection's lock; nothing else runs in the meantime. */
const BUSY_TIMEOUT_MS = 5000;
/** A server that is just being replaced needs a moment to close. */
const LOCK_TIMEOUT_MS = 1000;

/**
 * Opens the file, which must exist for a read-only connection, with the functions that our SQL calls. `check` may throw
 * before anything is changed.
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
    // What is promised is flushed by `WalSync`.
    connection.pragma('synchronous = NORMAL');
    connection.pragma('foreign_keys = ON');
    // Else one long read leaves a log of its size on the disk for good.
    connection.pragma('journal_size_limit = 67108864');
  }
  registerVectorFunctions(connection);
  connection.function('json_contains', { deterministic: true }, jsonContains());
  connection.function('json_terms', { deterministic: true }, jsonTerms);
  connection.function('json_merge', { deterministic: true }, jsonMerge);
  // SQLite's own `lower` knows ASCII only, and it lacks `strpos`.
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

/**
 * Keeps a second server off the database in the real `file`, which is configured as `path`: a transaction held open on a
 * file beside it. Node has no `flock`; SQLite's locks are the operating system's, which releases them even after `kill -9`.
 */
export function lockDatabase(file: string, path: string): Connection {
  const lock_file = `${file}.lock`;
  const lock = new Database(lock_file, { timeout: LOCK_TIMEOUT_MS });
  try {
    lock.exec('begin exclusive');
    return lock;
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    const detail = `Another server uses the database ${path} (it holds ${lock_file}).`;
    throw new Unavailable(`${detail} Stop that server, or set another "storage.url" for this one.`, {
      cause: error,
    });
  }
}

/** Lists of ids make new texts without end; the oldest statement goes first. */
const MAX_CACHED_STATEMENTS = 500;

/** Prepares each text once for a connection. */
export class Statements {
  readonly #connection: Connection;
  readonly #prepared = new LRUCache<string, Database.Statement>({ max: MAX_CACHED_STATEMENTS });

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  all<Row>(query: Sql): Row[] {
    const { text, values } = render(query, 'sqlite');
    return this.#prepare(text).all(...values.map(bindable)) as Row[];
  }

  get<Row>(query: Sql): Row | undefined {
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
 * Where the database in the file really is; the file is made with its folder when missing. SQLite resolves symbolic links
 * and puts its log beside the real file: so must be whatever else is beside it, above all the lock that keeps a second
 * server off. Throws `Unavailable` for a file with several names (hard links): each would have a log and a lock of its
 * own, and what is written under two names at once is destroyed.
 */
export function resolveDatabaseFile(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  // Also at the end of a link that leads to no file yet. One that is there must not be opened: closing it would release
  // the locks of all connections that this process has to it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o644));
  const file = realpathSync(path);
  const { nlink } = statSync(file);
  if (nlink <= 1) return file;
  const detail = `The database ${path} is a file with ${nlink} names (hard links)`;
  throw new Unavailable(`${detail}: remove the others, or use a copy of it. A symbolic link does no harm.`);
}

/** Throws `Unavailable` for the database of another program, before anything is changed in it. */
export function assertOwnSchema(connection: Connection, path: string): void {
  const count = (query: string) => connection.prepare(query).pluck().get() as number;
  const tables = count(
    `select count(*) from sqlite_master where type = 'table' and name not like 'sqlite_%'`,
  );
  if (tables === 0) return;
  // Other programs have a table of this name as well.
  const known = count(`select count(*) from pragma_table_info('schema_migrations')
    where name in ('version', 'name', 'applied_at')`);
  if (known === 3) return;
  const detail = `The database ${path} belongs to another program: it has tables, but not those of this server`;
  throw new Unavailable(`${detail}. Set another "storage.url".`);
}

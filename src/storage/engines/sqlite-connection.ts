import Database from 'better-sqlite3';
import { Unavailable } from '../../core/errors.ts';
import { jsonTerms } from '../search/terms.ts';
import { render, type Sql, type SqlValue } from '../sql.ts';
import { jsonContains } from './json-contains.ts';
import { jsonMerge } from './json-merge.ts';
import { isBusy } from './sqlite-errors.ts';
import { addVectors } from './sqlite-vectors.ts';

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
  addVectors(connection);
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
const CACHED_STATEMENTS = 500;

/** Prepares each text once for a connection. */
export class Statements {
  readonly #connection: Connection;
  readonly #prepared = new Map<string, Database.Statement>();

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
    if (this.#prepared.size >= CACHED_STATEMENTS) {
      this.#prepared.delete(this.#prepared.keys().next().value as string);
    }
    this.#prepared.set(text, statement);
    return statement;
  }
}

function bindable(value: SqlValue): Exclude<SqlValue, boolean> {
  return typeof value === 'boolean' ? Number(value) : value;
}

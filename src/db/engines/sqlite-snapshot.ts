import { existsSync, realpathSync } from 'node:fs';
import { Unavailable } from '../../core/errors.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import type { Reader } from '../db.ts';
import { plainCipher } from '../encryption/cipher.ts';
import { assertOwnSchema, type Connection, connect, lockDatabase, Statements } from './sqlite-connection.ts';
import { sqliteError, sqliteOpenError } from './sqlite-errors.ts';

/**
 * One moment of a SQLite database, while servers keep writing to it: a single read transaction. The write-ahead log
 * cannot shrink until it is closed. Throws `Unavailable` if there is no such file, or if it is not ours.
 */
export function openSqliteSnapshot(path: string): Reader & AsyncDisposable {
  assertExists(path);
  let connection: Connection;
  try {
    connection = connect(realpathSync(path), { readonly: true }, (opened) => {
      assertOwnSchema(opened, path);
      opened.exec('begin');
      // The first read determines the moment.
      opened.prepare('select count(*) from sqlite_master').get();
    });
  } catch (error) {
    throw error instanceof Unavailable ? error : sqliteOpenError(path, error);
  }
  const statements = new Statements(connection);
  const read = async <Value>(action: () => Value): Promise<Value> => {
    await yieldToEventLoop();
    try {
      return action();
    } catch (error) {
      throw sqliteError(error);
    }
  };
  return {
    dialect: 'sqlite',
    cipher: plainCipher,
    all: (query) => read(() => statements.all(query)),
    get: (query) => read(() => statements.get(query)),
    async [Symbol.asyncDispose]() {
      connection.close();
    },
  };
}

/** Throws `Unavailable` if there is no database in `path`: opening it would create an empty one. */
export function assertExists(path: string): void {
  if (!existsSync(path)) throw new Unavailable(`There is no database ${path}.`);
}

/**
 * Keeps servers off an existing database until disposed. Returns `undefined` if a server has it open. A database that
 * never had a server, such as a backup, has no lock file and gets none.
 */
export function holdSqlite(path: string): Disposable | undefined {
  const file = realpathSync(path);
  if (!existsSync(`${file}.lock`)) return { [Symbol.dispose]() {} };
  try {
    const lock = lockDatabase(file, path);
    return { [Symbol.dispose]: () => void lock.close() };
  } catch (error) {
    if (error instanceof Unavailable) return undefined;
    throw sqliteOpenError(path, error);
  }
}

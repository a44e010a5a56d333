import { systemRandom } from '../../core/backoff.ts';
import { codeOf } from '../../core/errors.ts';
import { sleep } from '../../core/timers.ts';
import type { CommitMode, Db, Deferred, Transaction } from '../db.ts';
import { type Cipher, plainCipher } from '../encryption/cipher.ts';
import { render, type Sql, type SqlValue } from '../sql.ts';
import { isRetriable, postgresError } from './postgres-errors.ts';

const BOOL = 16;
const INT8 = 20;
const JSON_TEXT = 114;
const TIMESTAMPTZ = 1184;
const JSONB = 3802;

/**
 * Parsers by type OID, for columns whose value must equal SQLite's: JSON stays text, a timestamp is ISO-8601 in UTC
 * with milliseconds, a boolean is 0 or 1.
 */
export const POSTGRES_PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [BOOL]: (text) => (text === 't' ? 1 : 0),
  // Counts and sequences stay below 2^53.
  [INT8]: Number,
  [JSON_TEXT]: (text) => text,
  [JSONB]: (text) => text,
  [TIMESTAMPTZ]: timestamp,
};

/** Parses `2026-11-21 01:53:38.37+00`, in any session time zone. */
function timestamp(text: string): string {
  const iso = text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
  return new Date(iso).toISOString();
}

/** Executes statements: one connection, or any connection of a pool. */
export interface PostgresSession {
  query(text: string, values: readonly SqlValue[]): Promise<{ rows: unknown[]; changes: number }>;
}

/** The connection of a transaction. */
export interface PostgresTransaction extends PostgresSession {
  /** Executed with the next query, or with the commit: an error rejects that. */
  defer(text: string, values: readonly SqlValue[]): Deferred;
}

/** What `postgresDb` requires of a client library. */
export interface PostgresDriver extends PostgresSession {
  /** Begins, commits when the body resolves, rolls back when it rejects. */
  transaction<T>(durability: CommitMode, body: (session: PostgresTransaction) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * A database over a client library. Reruns a transaction body from the start after a deadlock; `onRetry` receives the
 * code of the error.
 */
export function postgresDb(
  driver: PostgresDriver,
  cipher: Cipher = plainCipher,
  onRetry: (code: string) => void = () => {},
): Db {
  const pool = statements(driver, cipher);
  const withRetry = <T>(action: () => Promise<T>) => retried(action, onRetry);
  let closing: Promise<void> | undefined;

  function transaction<T>(durability: CommitMode, body: (tx: Transaction) => Promise<T>): Promise<T> {
    return withRetry(() =>
      driver.transaction(durability, async (session) => {
        const watched = watchFailures(session);
        try {
          return await body(transactionOf(watched.session, cipher));
        } catch (error) {
          throw watched.hasThrown(error)
            ? error
            : new BodyFailure('a transaction body failed', { cause: error });
        }
      }),
    );
  }

  return {
    dialect: pool.dialect,
    cipher,
    all: (query) => withRetry(() => pool.all(query)),
    get: (query) => withRetry(() => pool.get(query)),
    // A lone statement is its own transaction; one that has to say more goes with its `begin` and `commit`.
    run: async (query, durability = 'sync') =>
      durability === 'async'
        ? (await transaction(durability, async (tx) => tx.defer(query))).changes
        : withRetry(() => pool.run(query)),
    transaction,
    async [Symbol.asyncDispose]() {
      closing ??= driver.close();
      await closing;
    },
  };
}

/**
 * What a body threw that is no failure of a statement. Without it, an `ECONNREFUSED` of a service that the body calls
 * would look like that of the database: the connection would be closed, and the body run again.
 */
class BodyFailure extends Error {}

/** The same session, and which errors its statements threw. */
function watchFailures(session: PostgresTransaction) {
  const thrown = new WeakSet<object>();
  const watched: PostgresTransaction = {
    query: (text, values) =>
      session.query(text, values).catch((error: unknown) => {
        if (error instanceof Error) thrown.add(error);
        throw error;
      }),
    defer: (text, values) => session.defer(text, values),
  };
  return { session: watched, hasThrown: (error: unknown) => error instanceof Error && thrown.has(error) };
}

function transactionOf(session: PostgresTransaction, cipher: Cipher): Transaction {
  return {
    ...statements(session, cipher),
    defer(query) {
      const { text, values } = render(query, 'postgres');
      return session.defer(text, values);
    },
  };
}

function statements(session: PostgresSession, cipher: Cipher): Omit<Transaction, 'defer'> {
  const execute = (query: Sql) => {
    const { text, values } = render(query, 'postgres');
    return session.query(text, values);
  };
  return {
    dialect: 'postgres',
    cipher,
    all: async <Row>(query: Sql<Row>) => (await execute(query)).rows as Row[],
    get: async <Row>(query: Sql<Row>) => (await execute(query)).rows[0] as Row | undefined,
    run: async (query) => (await execute(query)).changes,
  };
}

const MAX_ATTEMPTS = 4;

async function retried<T>(action: () => Promise<T>, onRetry: (code: string) => void): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await action();
    } catch (error) {
      if (error instanceof BodyFailure) throw error.cause;
      if (tried === MAX_ATTEMPTS || !isRetriable(error)) throw postgresError(error);
      onRetry(codeOf(error));
      await sleep(5 * 2 ** tried * systemRandom());
    }
  }
}

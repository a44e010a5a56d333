import { setTimeout as sleep } from 'node:timers/promises';
import type { Db, Durability, Transaction } from '../db.ts';
import { render, type Sql, type SqlValue } from '../sql.ts';
import { isRetriable, postgresError } from './postgres-errors.ts';

/** Something that executes statements: a connection, or any connection of a pool. */
export interface PostgresSession {
  query(text: string, values: readonly SqlValue[]): Promise<{ rows: unknown[]; changes: number }>;
}

/** What `postgresDb` needs of a client library. */
export interface PostgresDriver extends PostgresSession {
  /** Begins, commits when the body resolves, rolls back when it rejects. */
  transaction<T>(durability: Durability, body: (session: PostgresSession) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const ATTEMPTS = 4;

/** A database over a client library; a body that met a deadlock runs again from its beginning. */
export function postgresDb(driver: PostgresDriver): Db {
  let closing: Promise<void> | undefined;
  return {
    ...transaction(driver),
    run: (query, durability = 'promised') =>
      attempt(() =>
        durability === 'promised'
          ? transaction(driver).run(query)
          : driver.transaction(durability, (session) => transaction(session).run(query)),
      ),
    transaction: (durability, body) =>
      attempt(() => driver.transaction(durability, (session) => body(transaction(session)))),
    async [Symbol.asyncDispose]() {
      closing ??= driver.close();
      await closing;
    },
  };
}

function transaction(session: PostgresSession): Transaction {
  const execute = async (query: Sql) => {
    const { text, values } = render(query, 'postgres');
    try {
      return await session.query(text, values);
    } catch (error) {
      throw postgresError(error);
    }
  };
  return {
    dialect: 'postgres',
    all: async <Row>(query: Sql) => (await execute(query)).rows as Row[],
    get: async <Row>(query: Sql) => (await execute(query)).rows[0] as Row | undefined,
    run: async (query) => (await execute(query)).changes,
  };
}

async function attempt<T>(action: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await action();
    } catch (error) {
      if (tried === ATTEMPTS || !isRetriable(error)) throw postgresError(error);
      await sleep(5 * 2 ** tried * Math.random());
    }
  }
}

import type { Db, Transaction } from '../../src/db/db.ts';
import { render, type Sql } from '../../src/db/sql.ts';

/** Where two processes may meet. Within a transaction only on PostgreSQL: SQLite has one writer, which nobody meets. */
export type Point = 'read' | 'before transaction' | 'statement' | 'before commit' | 'after commit';

/** A place at which the next process to come is held. */
export interface Pause {
  /** Resolves when somebody is there. */
  readonly reached: Promise<void>;
  /** Lets them go on. */
  resume(): void;
  /** Lets them go on with a failure instead, as if the process had died there or the line had been cut. */
  fail(error: Error): void;
}

/** A database as one process sees it, which a test can hold where another process may come in between. */
export interface InterleavedDb extends Db {
  /** Holds the first who comes to the point; of a read or a statement after its answer, if its text matches. */
  pause(point: Point, text?: RegExp): Pause;
}

interface Waiting {
  readonly point: Point;
  readonly text: RegExp;
  readonly arrive: () => Promise<void>;
}

/** Closing it does not close the database that it stands for. */
export function interleaved(db: Db): InterleavedDb {
  const pauses: Waiting[] = [];
  async function at(point: Point, text = ''): Promise<void> {
    const index = pauses.findIndex((pause) => pause.point === point && pause.text.test(text));
    if (index >= 0) await pauses.splice(index, 1)[0]?.arrive();
  }
  async function read<T>(query: Sql, answer: Promise<T>): Promise<T> {
    const value = await answer;
    await at('read', render(query, db.dialect).text);
    return value;
  }

  return {
    dialect: db.dialect,
    cipher: db.cipher,
    all: (query) => read(query, db.all(query)),
    get: (query) => read(query, db.get(query)),
    async run(query, durability = 'sync') {
      return this.transaction(durability, (tx) => tx.run(query));
    },
    async transaction(durability, body) {
      await at('before transaction');
      const result = await db.transaction(durability, async (tx) => {
        if (db.dialect === 'sqlite') return body(tx);
        const value = await body(watched(tx, at));
        await at('before commit');
        return value;
      });
      await at('after commit');
      return result;
    },
    async [Symbol.asyncDispose]() {},
    pause(point, text = /^/) {
      const reached = Promise.withResolvers<void>();
      const go = Promise.withResolvers<void>();
      // A failure may be decided on before anybody comes.
      go.promise.catch(() => {});
      pauses.push({
        point,
        text,
        arrive() {
          reached.resolve();
          return go.promise;
        },
      });
      return { reached: reached.promise, resume: go.resolve, fail: go.reject };
    },
  };
}

function watched(tx: Transaction, at: (point: Point, text: string) => Promise<void>): Transaction {
  async function then<T>(query: Sql, answer: Promise<T>): Promise<T> {
    const value = await answer;
    await at('statement', render(query, tx.dialect).text);
    return value;
  }
  return {
    ...tx,
    all: (query) => then(query, tx.all(query)),
    get: (query) => then(query, tx.get(query)),
    run: (query) => then(query, tx.run(query)),
  };
}

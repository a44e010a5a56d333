import type pg from 'pg';
import type { Deferred } from '../db.ts';
import type { SqlValue } from '../sql.ts';
import { type BatchStatement, executeBatch, type StatementResult } from './postgres-batch.ts';
import type { PostgresTransaction } from './postgres-db.ts';

interface Queued extends BatchStatement {
  readonly done?: (result: StatementResult) => void;
  readonly failed?: (error: unknown) => void;
}

/**
 * Statements of a transaction, in as few round trips as their results allow: those that are deferred, and those that are
 * requested in the same turn of the event loop, go together. `begin` goes with the first of them, and the last of them
 * with `commit`.
 */
export class BatchedTransaction implements PostgresTransaction, Disposable {
  readonly #client: pg.PoolClient;
  #queued: Queued[];
  #sending: Promise<void> = Promise.resolve();
  #isScheduled = false;
  #hasStatements = false;
  #isOver = false;

  /** `begin`: statements that open the transaction. */
  constructor(client: pg.PoolClient, begin: readonly string[]) {
    this.#client = client;
    this.#queued = begin.map((text) => ({ text, values: [] }));
  }

  query(text: string, values: readonly SqlValue[]): Promise<StatementResult> {
    return new Promise((done, failed) => {
      this.#add({ text, values, done, failed });
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      queueMicrotask(() => {
        this.#isScheduled = false;
        // Each statement of the batch receives the error.
        this.#send().catch(() => {});
      });
    });
  }

  defer(text: string, values: readonly SqlValue[]): Deferred {
    let changes: number | undefined;
    this.#add({ text, values, done: (result) => (changes = result.changes) });
    return {
      get changes() {
        if (changes === undefined) throw new Error('A deferred statement has not been executed yet.');
        return changes;
      },
    };
  }

  /** Commits with the statements that are left. A transaction without any is never begun. */
  async commit(): Promise<void> {
    if (!this.#hasStatements) return;
    let command: string | undefined;
    this.#add({ text: 'commit', values: [], done: (result) => (command = result.command) });
    await this.#send();
    // After a failed statement PostgreSQL answers COMMIT with ROLLBACK and no error.
    if (command !== 'COMMIT') throw new Error('A statement of this transaction failed; it is rolled back.');
  }

  /** A statement that was not awaited must not follow the rollback: it would open another transaction. */
  [Symbol.dispose](): void {
    this.#isOver = true;
  }

  #add(statement: Queued): void {
    this.#hasStatements = true;
    this.#queued.push(statement);
  }

  /** One batch after the other. */
  #send(): Promise<void> {
    const sent = this.#sending.then(() => this.#sendQueued());
    this.#sending = sent.catch(() => {});
    return sent;
  }

  async #sendQueued(): Promise<void> {
    const batch = this.#queued;
    this.#queued = [];
    if (batch.length === 0) return;
    try {
      if (this.#isOver) throw new Error('This transaction is over.');
      const results = await executeBatch(this.#client, batch);
      for (const [index, { done }] of batch.entries()) done?.(results[index] as StatementResult);
    } catch (error) {
      for (const { failed } of batch) failed?.(error);
      throw error;
    }
  }
}

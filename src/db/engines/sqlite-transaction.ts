import { systemClock } from '../../core/clock.ts';
import { immediate } from '../../core/event-loop.ts';
import type { Deferred, Transaction } from '../db.ts';
import type { Cipher } from '../encryption/cipher.ts';
import type { Sql } from '../sql.ts';
import type { Connection, Statements } from './sqlite-connection.ts';

/** A batch yields to the event loop after this time, ms. Ordinary batches are shorter. */
const MAX_BLOCKING_MS = 25;

/** Yields to the event loop within a batch: reads proceed meanwhile; other writes wait for the commit in any case. */
export class LoopTurns implements Disposable {
  #waiting = 0;
  #since = systemClock.monotonic();
  #look: NodeJS.Immediate;
  #reject: (error: Error) => void = () => {};

  constructor() {
    this.#look = setImmediate(() => this.#onTurn());
  }

  /**
   * Resolves with the body's value. Rejects a body that awaits anything but its transaction: it would block every other
   * write, or wait for one.
   */
  within<T>(body: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      body.then(resolve, reject);
    });
  }

  yieldIfDue(): Promise<void> | undefined {
    return systemClock.monotonic() - this.#since < MAX_BLOCKING_MS ? undefined : this.#yield();
  }

  async #yield(): Promise<void> {
    this.#waiting++;
    await immediate();
    this.#waiting--;
    this.#since = systemClock.monotonic();
  }

  /** Bodies and commit take one turn of the event loop, except where a statement yields. */
  #onTurn(): void {
    if (this.#waiting === 0)
      this.#reject(new Error('A transaction may await nothing but its own statements.'));
    this.#look = setImmediate(() => this.#onTurn());
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#look);
  }
}

/** Runs statements synchronously: a body awaits only microtasks and `LoopTurns`. Unusable once its body has ended. */
export class SqliteTransaction implements Transaction, Disposable {
  readonly dialect = 'sqlite';
  readonly cipher: Cipher;
  readonly #connection: Connection;
  readonly #statements: Statements;
  readonly #turns: LoopTurns;
  #closed = false;

  constructor(connection: Connection, statements: Statements, cipher: Cipher, turns: LoopTurns) {
    this.cipher = cipher;
    this.#connection = connection;
    this.#statements = statements;
    this.#turns = turns;
  }

  async all<Row>(query: Sql<Row>): Promise<Row[]> {
    await this.#turns.yieldIfDue();
    return this.#open().all(query);
  }

  async get<Row>(query: Sql<Row>): Promise<Row | undefined> {
    await this.#turns.yieldIfDue();
    return this.#open().get(query);
  }

  async run(query: Sql): Promise<number> {
    await this.#turns.yieldIfDue();
    return this.#open().run(query);
  }

  /** Executed at once: there is no round trip to save. */
  defer(query: Sql): Deferred {
    return { changes: this.#open().run(query) };
  }

  [Symbol.dispose](): void {
    this.#closed = true;
  }

  /** Guard: a statement outside of the transaction would autocommit. */
  #open(): Statements {
    if (this.#closed || !this.#connection.inTransaction) throw new Error('This transaction is over.');
    return this.#statements;
  }
}

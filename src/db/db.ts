import type { Cipher } from './encryption/cipher.ts';
import type { DialectName, Sql } from './sql.ts';

/** Read committed. Both engines return JSON as text and timestamps as ISO-8601 text. */
export interface Reader {
  readonly dialect: DialectName;
  /** Encryption at rest: code that writes or reads an encrypted column calls it. */
  readonly cipher: Cipher;
  all<Row>(query: Sql<Row>): Promise<Row[]>;
  /** The first row. */
  get<Row>(query: Sql<Row>): Promise<Row | undefined>;
}

export interface Transaction extends Reader {
  /** Returns the number of rows changed. */
  run(query: Sql): Promise<number>;
  /**
   * A statement whose result the body does not need. PostgreSQL executes it in order, in the round trip of the next one
   * that is awaited or of the commit. Its error rolls the transaction back, like any other that is not caught.
   */
  defer(query: Sql): Deferred;
}

/** A statement of a transaction that is executed later, at the latest by its commit. */
export interface Deferred {
  /** Number of rows changed, on PostgreSQL also of rows found; throws as long as it has not been executed. */
  readonly changes: number;
}

/**
 * Durability of a commit. `sync`: on disk before the promise resolves; survives a power failure (invariant 5).
 * `async`: survives the death of the process; a power failure may lose it until the next `sync` commit.
 * `reclaim`: `sync` for a transaction that frees space; on a full disk SQLite may use its disk reserve.
 * `bulk`: `sync` for a transaction that may change or sort more than fits into memory.
 * `snapshot`: `sync` for a transaction whose statements all see what was committed before the first one (repeatable read).
 */
export type CommitMode = 'sync' | 'async' | 'reclaim' | 'bulk' | 'snapshot';

/**
 * One database. Transactions are serialisable with respect to each other for the rows they lock. Group commit: several
 * started in one turn of the event loop may share a commit; one that throws is rolled back alone.
 * The body may await only its own `Transaction`. It may rerun from the start, after a deadlock or a failure of another body
 * of its batch: it changes nothing in memory, and returns what the caller needs for that.
 * Throws `Unavailable` or `InsufficientStorage` when the database cannot serve.
 */
export interface Db extends Reader, AsyncDisposable {
  transaction<T>(durability: CommitMode, body: (tx: Transaction) => Promise<T>): Promise<T>;
  /** One statement in its own transaction, `sync` by default. Returns the number of rows changed. */
  run(query: Sql, durability?: CommitMode): Promise<number>;
}

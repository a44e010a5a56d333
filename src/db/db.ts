import type { Cipher } from './encryption/cipher.ts';
import type { DialectName, Sql } from './sql.ts';

/** Reads see the last commit. Rows come back with JSON as text and timestamps as ISO-8601 text, on both engines. */
export interface Reader {
  readonly dialect: DialectName;
  /** For what is sealed at rest; whoever writes or reads such a column calls it. */
  readonly cipher: Cipher;
  all<Row>(query: Sql): Promise<Row[]>;
  get<Row>(query: Sql): Promise<Row | undefined>;
}

export interface Transaction extends Reader {
  /** Rows that were changed. */
  run(query: Sql): Promise<number>;
}

/**
 * How a commit is kept. `sync`: on disk before the promise resolves, survives a power cut (invariant 5).
 * `async`: survives the process's death; a power cut may take it until the next promised commit.
 * `reclaim`: promised, and it makes room: on a full disk SQLite has a reserve for it.
 */
export type CommitMode = 'sync' | 'async' | 'reclaim';

/**
 * One database. Transactions are serialisable with respect to each other for the rows they lock; several of one turn
 * of the event loop may share a commit, and one that throws is undone alone.
 * A transaction's body awaits nothing but its own `Transaction`, and may run again from its beginning (PostgreSQL,
 * after a deadlock). Throws `Unavailable` or `InsufficientStorage` when the database cannot serve.
 */
export interface Db extends Reader, AsyncDisposable {
  transaction<T>(durability: CommitMode, body: (tx: Transaction) => Promise<T>): Promise<T>;
  /** One statement in a promised transaction of its own; rows that were changed. */
  run(query: Sql, durability?: CommitMode): Promise<number>;
}

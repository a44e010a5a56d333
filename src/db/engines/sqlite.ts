import { Unavailable } from '../../core/errors.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import type { CommitMode, Db, Transaction } from '../db.ts';
import { type Cipher, plainCipher } from '../encryption/cipher.ts';
import type { Sql } from '../sql.ts';
import { DiskReserve } from './disk-reserve.ts';
import { GroupCommit } from './group-commit.ts';
import {
  assertOwnSchema,
  type Connection,
  connect,
  lockDatabase,
  resolveDatabaseFile,
  Statements,
} from './sqlite-connection.ts';
import { sqliteError, sqliteOpenError } from './sqlite-errors.ts';
import { WalSync } from './wal-sync.ts';

export interface SqliteOptions {
  /** `normal`: a power failure may lose commits, including `sync` ones (`storage.synchronous`). */
  readonly synchronous: 'full' | 'normal';
  /** Skips the server lock: for one short change while a server runs. Each waits for the other's writes. */
  readonly shared?: boolean;
  /** Rejects a database that has tables, but not those of this server. */
  readonly own_schema_only?: boolean;
  /** Reserves disk space for deletes. */
  readonly disk_reserve?: boolean;
  /** Without one, nothing is encrypted. */
  readonly cipher?: Cipher;
}

/**
 * Opens the database file, which is created with its folder if missing, and locks out other servers.
 * Throws `Unavailable` if another server has it, if it has hard links, or if it cannot be opened.
 */
export function openSqlite(path: string, options: SqliteOptions): Db {
  try {
    return open(path, options);
  } catch (error) {
    throw error instanceof Unavailable ? error : sqliteOpenError(path, error);
  }
}

function open(
  path: string,
  { synchronous, shared, own_schema_only, disk_reserve, cipher = plainCipher }: SqliteOptions,
): Db {
  const file = resolveDatabaseFile(path);
  const lock = shared ? undefined : lockDatabase(file, path);
  try {
    const writer = connect(file, { readonly: false }, (connection) => {
      if (own_schema_only) assertOwnSchema(connection, path);
    });
    return new SqliteDb(
      lock,
      writer,
      connect(file, { readonly: true }),
      synchronous === 'full' ? new WalSync(file) : undefined,
      cipher,
      disk_reserve ? new DiskReserve(file) : undefined,
    );
  } catch (error) {
    lock?.close();
    throw error;
  }
}

/**
 * Reads have their own connection: they see the last commit, never a batch in progress. They are synchronous, so each
 * first yields to the event loop if due: reading many large rows one by one would otherwise never pause.
 */
class SqliteDb implements Db {
  readonly dialect = 'sqlite';
  readonly cipher: Cipher;
  readonly #connections: readonly Connection[];
  readonly #walSync: WalSync | undefined;
  readonly #reads: Statements;
  readonly #queue: GroupCommit;
  #closed = false;

  constructor(
    lock: Connection | undefined,
    writer: Connection,
    reader: Connection,
    walSync: WalSync | undefined,
    cipher: Cipher,
    reserve: DiskReserve | undefined,
  ) {
    this.cipher = cipher;
    // Close the lock last.
    this.#connections = [reader, writer, ...(lock ? [lock] : [])];
    this.#reads = new Statements(reader);
    this.#walSync = walSync;
    this.#queue = new GroupCommit(writer, walSync?.sync ?? (async () => {}), cipher, reserve);
  }

  async all<Row>(query: Sql<Row>): Promise<Row[]> {
    await yieldToEventLoop();
    return this.#read((reads) => reads.all(query));
  }

  async get<Row>(query: Sql<Row>): Promise<Row | undefined> {
    await yieldToEventLoop();
    return this.#read((reads) => reads.get(query));
  }

  async run(query: Sql, durability: CommitMode = 'sync'): Promise<number> {
    return this.transaction(durability, (tx) => tx.run(query));
  }

  async transaction<T>(durability: CommitMode, body: (tx: Transaction) => Promise<T>): Promise<T> {
    this.#assertOpen();
    return this.#queue.add(durability, body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#queue.drained();
    this.#walSync?.[Symbol.dispose]();
    for (const connection of this.#connections) connection.close();
  }

  #read<T>(read: (reads: Statements) => T): T {
    this.#assertOpen();
    try {
      return read(this.#reads);
    } catch (error) {
      throw sqliteError(error);
    }
  }

  #assertOpen(): void {
    if (this.#closed) throw new Unavailable('The database is closed.');
  }
}

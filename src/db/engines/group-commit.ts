import { systemClock } from '../../core/clock.ts';
import { immediate } from '../../core/event-loop.ts';
import type { CommitMode, Deferred, Transaction } from '../db.ts';
import type { Cipher } from '../encryption/cipher.ts';
import type { Sql } from '../sql.ts';
import type { DiskReserve } from './disk-reserve.ts';
import { type Connection, Statements } from './sqlite-connection.ts';
import { isDatabaseFull, sqliteError } from './sqlite-errors.ts';
import type { Sync } from './wal-sync.ts';

interface Job {
  readonly durability: CommitMode;
  readonly body: (tx: Transaction) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Every transaction runs all four: they are prepared once, and found without a search by their text. */
function controlStatements(connection: Connection) {
  return {
    begin: connection.prepare('begin immediate'),
    commit: connection.prepare('commit'),
    savepoint: connection.prepare('savepoint job'),
    release: connection.prepare('release job'),
  };
}

/** Result of a job, reported to its caller after the commit. */
interface Completion {
  readonly job: Job;
  /** Only after the WAL is synced to disk. */
  readonly after_sync: boolean;
  readonly complete: () => void;
}

/**
 * Group commit, and the only user of the write connection. Transactions that arrive in one turn of the event loop share
 * one COMMIT, which is most of their cost; each has its own savepoint. Resolves only after COMMIT: the caller must not
 * observe a write that can still roll back. Unless `async`, also waits for the WAL sync; the next batch does not.
 */
export class GroupCommit {
  readonly #connection: Connection;
  readonly #statements: Statements;
  readonly #control: ReturnType<typeof controlStatements>;
  readonly #sync: Sync;
  readonly #cipher: Cipher;
  readonly #reserve: DiskReserve | undefined;
  readonly #syncing = new Set<Promise<void>>();
  #jobs: Job[] = [];
  #rollbackStore: 'file' | 'memory' = 'file';
  #usesReserve = false;
  #working: Promise<void> | undefined;

  constructor(connection: Connection, sync: Sync, cipher: Cipher, reserve?: DiskReserve) {
    this.#connection = connection;
    this.#statements = new Statements(connection);
    this.#control = controlStatements(connection);
    this.#sync = sync;
    this.#cipher = cipher;
    this.#reserve = reserve;
  }

  add<T>(durability: CommitMode, body: (tx: Transaction) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ durability, body, resolve: resolve as Job['resolve'], reject });
      this.#working ??= this.#work();
    });
  }

  /** Resolves when every added job is settled. */
  async drained(): Promise<void> {
    await this.#working;
    await Promise.all(this.#syncing);
  }

  async #work(): Promise<void> {
    while (this.#jobs.length > 0) {
      await immediate();
      const batch = this.#jobs;
      this.#jobs = [];
      const [full, ...deletes] = await this.#commit(batch);
      if (full) await this.#commitWithReserve([full, ...deletes]);
    }
    this.#working = undefined;
  }

  /** Commits a batch. Returns the `reclaim` jobs that met a full disk, unsettled: they may use the reserve. */
  async #commit(batch: readonly Job[]): Promise<Job[]> {
    try {
      this.#rollback();
      this.#keepRollbackDataIn(batch.some(isLarge) ? 'file' : 'memory');
      this.#control.begin.run();
      const turns = new LoopTurns();
      const completions: Completion[] = [];
      for (const job of batch) completions.push(await this.#execute(job, turns));
      await turns.yieldIfDue();
      this.#control.commit.run();
      // Yield first: the callers resume in this same turn of the event loop.
      await turns.yieldIfDue();
      this.#complete(completions);
      return [];
    } catch (error) {
      const again = batch.filter((job) => isDatabaseFull(error) && this.#mayUseReserve(job));
      for (const job of batch) if (!again.includes(job)) job.reject(sqliteError(error));
      try {
        this.#rollback();
      } catch {
        // A failing disk can fail the rollback too: the next batch begins with it.
      }
      return again;
    }
  }

  /**
   * A delete frees pages inside the database file only. If the reserve can hold the whole WAL, it is checkpointed, so
   * that the next writer gets that space; a partial checkpoint would use up the reserve for nothing.
   */
  async #commitWithReserve(batch: readonly Job[]): Promise<void> {
    this.#usesReserve = true;
    let checkpointsWal = false;
    try {
      checkpointsWal = this.#reserve?.fitsWalOf(this.#connection) === true;
      this.#connection.pragma('wal_autocheckpoint = 0');
      this.#reserve?.release();
      await this.#commit(batch);
    } catch (error) {
      for (const job of batch) job.reject(sqliteError(error));
    }
    this.#usesReserve = false;
    this.#restoreReserve(checkpointsWal);
  }

  /** Best effort: an error that persists also fails the next write, which reports it. */
  #restoreReserve(checkpointsWal: boolean): void {
    const steps = [
      () => checkpointsWal && this.#connection.exec('pragma wal_checkpoint(passive)'),
      () => this.#reserve?.fill(),
      () => this.#connection.pragma('wal_autocheckpoint = 1000'),
    ];
    for (const step of steps) {
      try {
        step();
      } catch {
        // Best effort, see above.
      }
    }
  }

  /**
   * Where SQLite keeps the pages to which a savepoint rolls back. Files, its default, are made and removed several times
   * in each batch: a third of what the database costs a short run.
   */
  #keepRollbackDataIn(store: 'file' | 'memory'): void {
    if (store === this.#rollbackStore) return;
    this.#connection.pragma(`temp_store = ${store}`);
    this.#rollbackStore = store;
  }

  #mayUseReserve({ durability }: Job): boolean {
    return durability === 'reclaim' && this.#reserve !== undefined && !this.#usesReserve;
  }

  #rollback(): void {
    if (this.#connection.inTransaction) this.#connection.exec('rollback');
  }

  #complete(completions: readonly Completion[]): void {
    for (const { after_sync, complete } of completions) if (!after_sync) complete();
    const synced = completions.filter(({ after_sync }) => after_sync);
    if (synced.length === 0) return;
    const syncing = this.#completeAfterSync(synced).finally(() => this.#syncing.delete(syncing));
    this.#syncing.add(syncing);
  }

  async #completeAfterSync(synced: readonly Completion[]): Promise<void> {
    try {
      await this.#sync();
      for (const { complete } of synced) complete();
    } catch (error) {
      for (const { job } of synced) job.reject(sqliteError(error));
    }
  }

  /** Rolls a failing body back to its savepoint. Throws when the whole batch is lost. */
  async #execute(job: Job, turns: LoopTurns): Promise<Completion> {
    await turns.yieldIfDue();
    this.#control.savepoint.run();
    using tx = new SqliteTransaction(this.#connection, this.#statements, this.#cipher, turns);
    try {
      const value = await withinTransaction(turns, job.body(tx));
      this.#control.release.run();
      return { job, after_sync: job.durability !== 'async', complete: () => job.resolve(value) };
    } catch (error) {
      // On a full disk SQLite may roll back the whole transaction, and the batch with it.
      if (!this.#connection.inTransaction || (isDatabaseFull(error) && this.#mayUseReserve(job))) throw error;
      this.#connection.exec('rollback to job; release job');
      return { job, after_sync: false, complete: () => job.reject(sqliteError(error)) };
    }
  }
}

/** May change more than fits into memory. */
function isLarge({ durability }: Job): boolean {
  return durability === 'reclaim' || durability === 'bulk';
}

/** A batch yields to the event loop after this time, ms. Ordinary batches are shorter. */
const MAX_BLOCKING_MS = 25;

/** Yields to the event loop within a batch: reads proceed meanwhile; other writes wait for the commit in any case. */
class LoopTurns {
  #waiting = 0;
  #since = systemClock.monotonic();

  /** A statement is yielding right now. */
  get isWaiting(): boolean {
    return this.#waiting > 0;
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
}

/** Runs statements synchronously: a body awaits only microtasks and `LoopTurns`. Unusable once its body has ended. */
class SqliteTransaction implements Transaction, Disposable {
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

/** Rejects a body that awaits anything but its transaction: it would block every other write, or wait for one. */
async function withinTransaction<T>(turns: LoopTurns, body: Promise<T>): Promise<T> {
  let turn: NodeJS.Immediate | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    const look = () => {
      turn = setImmediate(() =>
        turns.isWaiting
          ? look()
          : reject(new Error('A transaction may await nothing but its own statements.')),
      );
    };
    look();
  });
  try {
    return await Promise.race([body, over]);
  } finally {
    clearImmediate(turn);
  }
}

import { immediate } from '../../core/event-loop.ts';
import type { CommitMode, Transaction } from '../db.ts';
import type { Cipher } from '../encryption/cipher.ts';
import type { DiskReserve } from './disk-reserve.ts';
import { type Connection, Statements } from './sqlite-connection.ts';
import { isDatabaseFull, sqliteError } from './sqlite-errors.ts';
import { LoopTurns, SqliteTransaction } from './sqlite-transaction.ts';
import type { Sync } from './wal-sync.ts';

interface Job {
  readonly durability: CommitMode;
  readonly body: (tx: Transaction) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Batches after a failed job whose jobs have savepoints: a client may repeat what fails. */
const WITH_SAVEPOINTS = 100;

/** Run in every transaction: they are prepared once, and found without a search by their text. */
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
  /** Whether it is reported only after the WAL is synced to disk. */
  readonly after_sync: boolean;
  readonly complete: () => void;
}

/**
 * Group commit, and the only user of the write connection. Transactions that arrive in one turn of the event loop share
 * one COMMIT, which is most of their cost; one that fails is rolled back alone, to its savepoint. Resolves only after
 * COMMIT: the caller must not observe a write that can still roll back. Unless `async`, also waits for the WAL sync;
 * the next batch does not.
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
  #savepoints = 0;
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
      using turns = new LoopTurns();
      const completions = await this.#executeAll(batch, turns);
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

  /**
   * Leaves the transaction open. Savepoints copy each page that a job changes: bodies, which may rerun, are tried without
   * them first. Throws when the whole batch is lost.
   */
  async #executeAll(batch: readonly Job[], turns: LoopTurns): Promise<Completion[]> {
    const hasLarge = batch.some(isLarge);
    this.#begin(hasLarge);
    if (!hasLarge && this.#savepoints === 0) {
      try {
        const completions: Completion[] = [];
        for (const job of batch) completions.push(await this.#execute(job, turns));
        return completions;
      } catch {
        this.#savepoints = WITH_SAVEPOINTS;
        this.#begin(hasLarge);
      }
    }
    if (this.#savepoints > 0) this.#savepoints--;
    const completions: Completion[] = [];
    for (const job of batch) completions.push(await this.#executeAlone(job, turns));
    return completions;
  }

  #begin(hasLarge: boolean): void {
    this.#rollback();
    this.#keepRollbackDataIn(hasLarge ? 'file' : 'memory');
    this.#control.begin.run();
  }

  async #execute(job: Job, turns: LoopTurns): Promise<Completion> {
    await turns.yieldIfDue();
    using tx = new SqliteTransaction(this.#connection, this.#statements, this.#cipher, turns);
    const value = await turns.within(job.body(tx));
    return { job, after_sync: job.durability !== 'async', complete: () => job.resolve(value) };
  }

  /** Rolls a failing body back to its savepoint. Throws when the whole batch is lost. */
  async #executeAlone(job: Job, turns: LoopTurns): Promise<Completion> {
    await turns.yieldIfDue();
    this.#control.savepoint.run();
    try {
      const completion = await this.#execute(job, turns);
      this.#control.release.run();
      return completion;
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

import { systemClock } from '../../core/clock.ts';
import { Unavailable } from '../../core/errors.ts';
import { isEventLoopBusy } from '../../core/event-loop.ts';
import { after, type Timer } from '../../core/timers.ts';
import type { CommitMode, Db, Transaction } from '../../db/db.ts';
import { type Frame, insertFrames } from './events.ts';
import { admitBatch, type Lease } from './lease.ts';

/** Statements that belong together; run again from the start when the transaction is. */
export type Write = (tx: Transaction) => Promise<void>;

/** What an attempt has produced and storage does not hold yet, in the order in which it came. */
export interface Batch {
  readonly frames: Frame[];
  /** Checkpoints, and what tasks wrote at them. */
  readonly writes: Write[];
  /** How many batches of the attempt must be stored before this one; undefined where nobody counted. */
  readonly follows?: number;
}

export interface WriteBufferOptions {
  /**
   * Whether frames may be shown only when nothing can take them back: a client comes back with the number of the last
   * one it saw, which must then never be given to another, not even by a database that crashed.
   */
  readonly resumable?: boolean;
  /** Frames that are committed now. */
  readonly onCommitted: (frames: readonly Frame[]) => void;
  /** A batch was refused: nothing more will be written, and the attempt must stop. */
  readonly onError: (error: unknown) => void;
}

/** How long what is not promised yet may wait for its commit, ms. A crash repeats at most this much. */
const FLUSH_INTERVAL_MS = 10;
/**
 * The same while graphs that never wait keep the event loop busy, ms: their commits would take time from the steps that
 * follow, and most of such runs end soon. With 10 ms, 16 runs of ten steps at once cost a tenth more CPU.
 */
const BUSY_FLUSH_INTERVAL_MS = 200;
/** Frames are written at once when this much of their text waits. */
const FLUSH_BYTES = 64 * 1024;

/**
 * Everything one attempt writes, under its lease (invariant 2). Short runs end before the first commit is due: their
 * events and checkpoints become part of the transaction that ends the run, which was most of what a run cost.
 */
export class WriteBuffer implements Disposable {
  readonly #db: Db;
  readonly #lease: Lease;
  readonly #options: WriteBufferOptions;
  readonly #active: ActiveAttempts | undefined;
  /** Resolves when what was taken is committed, or given up; rejects when storage is away. */
  readonly #finished = Promise.withResolvers<void>();
  #drained = false;
  /** Batches that are committed. */
  #stored = 0;
  #pending: Batch = { frames: [], writes: [] };
  #pendingBytes = 0;
  #timer: Timer | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #committing: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  /** With `open`, readers of the thread find the attempt there until it is disposed of. */
  constructor(db: Db, lease: Lease, options: WriteBufferOptions, active?: ActiveAttempts) {
    this.#db = db;
    this.#lease = lease;
    this.#options = options;
    this.#active = active;
    // Most attempts end without anybody waiting for it.
    this.#finished.promise.catch(() => {});
    active?.add(lease.thread_id, this);
  }

  /** `soon`: somebody waits for the commit; else it may be shared with what comes next. */
  addFrame(frame: Frame, immediate: boolean): void {
    this.#pending.frames.push(frame);
    this.#pendingBytes += frame.data.length;
    this.#schedule(immediate || this.#pendingBytes > FLUSH_BYTES);
  }

  /** Resolves at once, or with durability `sync` when it is on disk. Throws what an earlier commit threw. */
  async add(write: Write, durability: CommitMode): Promise<void> {
    this.#throwFailure();
    this.#pending.writes.push(write);
    if (durability === 'sync') await this.commit('sync');
    else this.#schedule(false);
  }

  /** Makes every checkpoint that was added readable from the database. Events may go on waiting. */
  async flush(): Promise<void> {
    if (this.#pending.writes.length > 0) return this.commit();
    await this.#committing;
    this.#throwFailure();
  }

  /**
   * As `settle`, for somebody else: waits for the end of the run where it is being written. Throws `Unavailable` while
   * storage is away. Any other failure is the attempt's own, such as a full disk: what it could not write is not there
   * to be read, and what was written before is.
   */
  async whenFlushed(): Promise<void> {
    try {
      await (this.#drained ? this.#finished.promise : this.flush());
    } catch (error) {
      if (error instanceof Unavailable) throw error;
    }
  }

  /** The end of the attempt cannot be written for now: who waits to read it must not wait until storage is back. */
  rejectReaders(error: unknown): void {
    this.#finished.reject(error);
  }

  /** The attempt is over. */
  [Symbol.dispose](): void {
    this.#cancelTimer();
    this.#active?.remove(this.#lease.thread_id, this);
    this.#finished.resolve();
  }

  /** Commits what waits. */
  async commit(durability: CommitMode = 'async'): Promise<void> {
    this.#cancelTimer();
    this.#committing = this.#committing.then(() => this.#commitBatch(durability));
    await this.#committing;
    this.#throwFailure();
  }

  /** Hands over what waits, to become part of the transaction that ends the run. Nothing may be added any more. */
  async drain(): Promise<Batch> {
    this.#cancelTimer();
    this.#drained = true;
    await this.#committing;
    const batch = { ...this.#pending, follows: this.#stored };
    this.#pending = { frames: [], writes: [] };
    return batch;
  }

  /** What was taken did not become part of the end after all, and is written as everything else. */
  undrain(batch: Batch): void {
    this.#pending = { frames: batch.frames, writes: batch.writes };
    this.#drained = false;
  }

  #schedule(immediate: boolean): void {
    if (this.#failure || this.#immediate) return;
    const commit = () => {
      this.#cancelTimer();
      // Failures are told by `onError`.
      this.#committing = this.#committing.then(() => this.#commitBatch('async'));
    };
    if (immediate) this.#immediate = setImmediate(commit);
    else this.#timer ??= this.#scheduleLater(commit, systemClock.monotonic() + BUSY_FLUSH_INTERVAL_MS);
  }

  #scheduleLater(commit: () => void, latest: number): Timer {
    return after(FLUSH_INTERVAL_MS, () => {
      if (isEventLoopBusy() && systemClock.monotonic() < latest)
        this.#timer = this.#scheduleLater(commit, latest);
      else commit();
    });
  }

  async #commitBatch(durability: CommitMode): Promise<void> {
    const batch = this.#pending;
    if (this.#failure || batch.frames.length + batch.writes.length === 0) return;
    this.#pending = { frames: [], writes: [] };
    this.#pendingBytes = 0;
    const isPublishedNext = this.#options.resumable === true && batch.frames.length > 0;
    try {
      await this.#db.transaction(isPublishedNext ? 'sync' : durability, async (tx) => {
        await admitBatch(tx, this.#lease, this.#stored);
        await writeBatch(tx, this.#lease.run_id, batch);
      });
      this.#stored += 1;
      this.#options.onCommitted(batch.frames);
    } catch (error) {
      this.#failure = { error };
      const { frames, writes } = this.#pending;
      this.#pending = { frames: [...batch.frames, ...frames], writes: [...batch.writes, ...writes] };
      this.#options.onError(error);
    }
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  #cancelTimer(): void {
    this.#timer?.[Symbol.dispose]();
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
  }
}

/** Part of a transaction that has checked the lease. */
export async function writeBatch(tx: Transaction, run_id: string, batch: Batch): Promise<void> {
  for (const write of batch.writes) await write(tx);
  await insertFrames(tx, run_id, batch.frames);
}

/**
 * The attempts that execute in this process, by thread. A client may have seen an event whose checkpoint waits for its
 * commit; when it asks for the state then, it must find there what it has seen.
 */
export class ActiveAttempts {
  readonly #byThread = new Map<string, WriteBuffer>();

  add(thread_id: string, writes: WriteBuffer): void {
    this.#byThread.set(thread_id, writes);
  }

  remove(thread_id: string, writes: WriteBuffer): void {
    if (this.#byThread.get(thread_id) === writes) this.#byThread.delete(thread_id);
  }

  /** Resolves when the checkpoints of the thread that were made so far can be read from the database. */
  async whenFlushed(thread_id: string | undefined): Promise<void> {
    if (thread_id !== undefined) await this.#byThread.get(thread_id)?.whenFlushed();
  }
}

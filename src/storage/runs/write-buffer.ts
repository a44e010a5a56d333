import { systemClock } from '../../core/clock.ts';
import { Unavailable } from '../../core/errors.ts';
import { isBusy } from '../../core/event-loop.ts';
import { after, type Timer } from '../../core/timers.ts';
import type { Db, Durability, Transaction } from '../../db/db.ts';
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

export interface AttemptWritesOptions {
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
const WAIT_MS = 10;
/**
 * The same while graphs that never wait keep the event loop busy, ms: their commits would take time from the steps that
 * follow, and most of such runs end soon. With 10 ms, 16 runs of ten steps at once cost a tenth more CPU.
 */
const BUSY_WAIT_MS = 200;
/** Frames are written at once when this much of their text waits. */
const FULL_BYTES = 64 * 1024;

/**
 * Everything one attempt writes, under its lease (invariant 2). Short runs end before the first commit is due: their
 * events and checkpoints become part of the transaction that ends the run, which was most of what a run cost.
 */
export class AttemptWrites implements Disposable {
  readonly #db: Db;
  readonly #lease: Lease;
  readonly #options: AttemptWritesOptions;
  readonly #open: OpenAttempts | undefined;
  /** Resolves when what was taken is committed, or given up; rejects when storage is away. */
  readonly #over = Promise.withResolvers<void>();
  #taken = false;
  /** Batches that are committed. */
  #stored = 0;
  #waiting: Batch = { frames: [], writes: [] };
  #waitingBytes = 0;
  #timer: Timer | undefined;
  #soon: NodeJS.Immediate | undefined;
  #committing: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  /** With `open`, readers of the thread find the attempt there until it is disposed of. */
  constructor(db: Db, lease: Lease, options: AttemptWritesOptions, open?: OpenAttempts) {
    this.#db = db;
    this.#lease = lease;
    this.#options = options;
    this.#open = open;
    // Most attempts end without anybody waiting for it.
    this.#over.promise.catch(() => {});
    open?.add(lease.thread_id, this);
  }

  /** `soon`: somebody waits for the commit; else it may be shared with what comes next. */
  addFrame(frame: Frame, soon: boolean): void {
    this.#waiting.frames.push(frame);
    this.#waitingBytes += frame.data.length;
    this.#schedule(soon || this.#waitingBytes > FULL_BYTES);
  }

  /** Resolves at once, or with durability `promised` when it is on disk. Throws what an earlier commit threw. */
  async add(write: Write, durability: Durability): Promise<void> {
    this.#throwFailure();
    this.#waiting.writes.push(write);
    if (durability === 'promised') await this.commit('promised');
    else this.#schedule(false);
  }

  /** Makes every checkpoint that was added readable from the database. Events may go on waiting. */
  async settle(): Promise<void> {
    if (this.#waiting.writes.length > 0) return this.commit();
    await this.#committing;
    this.#throwFailure();
  }

  /**
   * As `settle`, for somebody else: waits for the end of the run where it is being written. Throws `Unavailable` while
   * storage is away. Any other failure is the attempt's own, such as a full disk: what it could not write is not there
   * to be read, and what was written before is.
   */
  async readable(): Promise<void> {
    try {
      await (this.#taken ? this.#over.promise : this.settle());
    } catch (error) {
      if (error instanceof Unavailable) throw error;
    }
  }

  /** The end of the attempt cannot be written for now: who waits to read it must not wait until storage is back. */
  away(error: unknown): void {
    this.#over.reject(error);
  }

  /** The attempt is over. */
  [Symbol.dispose](): void {
    this.#cancelTimer();
    this.#open?.remove(this.#lease.thread_id, this);
    this.#over.resolve();
  }

  /** Commits what waits. */
  async commit(durability: Durability = 'relaxed'): Promise<void> {
    this.#cancelTimer();
    this.#committing = this.#committing.then(() => this.#commitBatch(durability));
    await this.#committing;
    this.#throwFailure();
  }

  /** Hands over what waits, to become part of the transaction that ends the run. Nothing may be added any more. */
  async take(): Promise<Batch> {
    this.#cancelTimer();
    this.#taken = true;
    await this.#committing;
    const batch = { ...this.#waiting, follows: this.#stored };
    this.#waiting = { frames: [], writes: [] };
    return batch;
  }

  /** What was taken did not become part of the end after all, and is written as everything else. */
  restore(batch: Batch): void {
    this.#waiting = { frames: batch.frames, writes: batch.writes };
    this.#taken = false;
  }

  #schedule(soon: boolean): void {
    if (this.#failure || this.#soon) return;
    const commit = () => {
      this.#cancelTimer();
      // Failures are told by `onError`.
      this.#committing = this.#committing.then(() => this.#commitBatch('relaxed'));
    };
    if (soon) this.#soon = setImmediate(commit);
    else this.#timer ??= this.#later(commit, systemClock.monotonic() + BUSY_WAIT_MS);
  }

  #later(commit: () => void, latest: number): Timer {
    return after(WAIT_MS, () => {
      if (isBusy() && systemClock.monotonic() < latest) this.#timer = this.#later(commit, latest);
      else commit();
    });
  }

  async #commitBatch(durability: Durability): Promise<void> {
    const batch = this.#waiting;
    if (this.#failure || batch.frames.length + batch.writes.length === 0) return;
    this.#waiting = { frames: [], writes: [] };
    this.#waitingBytes = 0;
    const isShownNext = this.#options.resumable === true && batch.frames.length > 0;
    try {
      await this.#db.transaction(isShownNext ? 'promised' : durability, async (tx) => {
        await admitBatch(tx, this.#lease, this.#stored);
        await writeBatch(tx, this.#lease.run_id, batch);
      });
      this.#stored += 1;
      this.#options.onCommitted(batch.frames);
    } catch (error) {
      this.#failure = { error };
      const { frames, writes } = this.#waiting;
      this.#waiting = { frames: [...batch.frames, ...frames], writes: [...batch.writes, ...writes] };
      this.#options.onError(error);
    }
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  #cancelTimer(): void {
    this.#timer?.[Symbol.dispose]();
    clearImmediate(this.#soon);
    this.#timer = undefined;
    this.#soon = undefined;
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
export class OpenAttempts {
  readonly #byThread = new Map<string, AttemptWrites>();

  add(thread_id: string, writes: AttemptWrites): void {
    this.#byThread.set(thread_id, writes);
  }

  remove(thread_id: string, writes: AttemptWrites): void {
    if (this.#byThread.get(thread_id) === writes) this.#byThread.delete(thread_id);
  }

  /** Resolves when the checkpoints of the thread that were made so far can be read from the database. */
  async readable(thread_id: string | undefined): Promise<void> {
    if (thread_id !== undefined) await this.#byThread.get(thread_id)?.readable();
  }
}

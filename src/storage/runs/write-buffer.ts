import { LeaseLost, Unavailable } from '../../core/errors.ts';
import { type MaskSecrets, maskSecrets } from '../../core/mask-secrets.ts';
import { after, type Timer } from '../../core/timers.ts';
import type { CommitMode, Db } from '../../db/db.ts';
import type { RecordedContents } from '../../schemas/step-contents.ts';
import type { PricedStep, RecordedStep } from '../../schemas/steps.ts';
import { type Cargo, Riders } from '../riders.ts';
import type { ActiveAttempts, AttemptNow, CurrentSteps } from './active-attempts.ts';
import { type Batch, emptyBatch, flushBatch, type Write } from './batch.ts';
import type { Frame } from './events.ts';
import { flushLater } from './flush-later.ts';
import { admitBatch, type Lease } from './lease.ts';
import { ContentsMask, type MaskedContents } from './masked-contents.ts';
import type { AttemptRecord } from './steps.ts';

export interface WriteBufferOptions {
  /**
   * Publishes frames only once they are durable: a client resumes after the number of the last one it saw, which must
   * never be assigned to another frame, not even after a crash of the database.
   */
  readonly resumable?: boolean;
  readonly observer?: BatchObserver | undefined;
  /** Masks what steps were given and returned; by default what has the shape of a secret. */
  readonly mask?: MaskSecrets | undefined;
  /** A batch is committed now. */
  readonly onCommitted: (batch: Batch) => void;
  /** A batch was refused: the buffer writes nothing more, and the attempt must stop. */
  readonly onError: (error: unknown) => void;
}

/** What an extension adds to the batches of an attempt. */
export interface BatchObserver {
  /** The name of its rider. */
  readonly name: string;
  /** In the configured currency; null if it is not known. */
  costOf(step: RecordedStep): number | null;
  /** The step is in the next batch. */
  stepEnded?(step: PricedStep): void;
  /** For the rider, with the next batch. */
  cargo(): unknown;
  /** A batch is committed: what the rider has resolved to. */
  committed?(result: unknown): void;
}

/** How long a write without a waiting caller may wait for the commit of another one, ms. */
const DEFERRED_FLUSH_MS = 200;
/** Frames wait no longer for a busy event loop once this much text is pending. */
const FLUSH_BYTES = 64 * 1024;
/** Limit of what steps were given and returned, characters: further steps are stored without. */
const MAX_CONTENTS = 8 * 1024 * 1024;

/**
 * Write-behind buffer of one attempt, under its lease (invariant 2). Short runs end before the first commit is due:
 * their events and checkpoints join the transaction that ends the run. Separate commits were most of what a run cost.
 */
export class WriteBuffer implements Disposable {
  readonly #db: Db;
  readonly #lease: Lease;
  readonly #options: WriteBufferOptions;
  readonly #active: ActiveAttempts | undefined;
  readonly #riders: Riders;
  /** Resolves when the drained batch is committed or given up; rejects while storage is unavailable. */
  readonly #finished = Promise.withResolvers<void>();
  #drained = false;
  /** Number of committed batches. */
  #stored = 0;
  #pending: Batch = emptyBatch();
  #pendingBytes = 0;
  readonly #contents: ContentsMask;
  #pendingContents = 0;
  #timer: Disposable | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #deferred: Timer | undefined;
  #committing: Promise<void> = Promise.resolve();
  #current: CurrentSteps = () => [];
  #isHostBusy: (() => boolean) | undefined;
  readonly #isFull = () => this.#pendingBytes > FLUSH_BYTES;
  #failure: { readonly error: unknown } | undefined;
  #mayBeStored = false;
  #waits_since: number | undefined;

  /** With `active`, readers of the thread find the attempt there until it is disposed. */
  constructor(
    db: Db,
    lease: Lease,
    options: WriteBufferOptions,
    { active, riders = new Riders([]) }: { active?: ActiveAttempts; riders?: Riders } = {},
  ) {
    this.#db = db;
    this.#lease = lease;
    this.#options = options;
    this.#contents = new ContentsMask(options.mask ?? maskSecrets);
    this.#active = active;
    this.#riders = riders;
    // Most attempts end without a waiting reader.
    this.#finished.promise.catch(() => {});
    active?.add(lease.thread_id, this);
  }

  /** `immediate`: a client waits for the commit; otherwise it may be shared with later frames. */
  addFrame(frame: Frame, immediate: boolean): void {
    this.#pending.frames.push(frame);
    this.#pendingBytes += frame.data.length;
    this.#schedule(immediate);
  }

  /** Resolves immediately, or with durability `sync` once it is on disk. Throws the error of an earlier commit. */
  async add(write: Write, durability: CommitMode): Promise<void> {
    this.#throwFailure();
    this.#pending.writes.push(write);
    if (durability === 'sync') await this.commit('sync');
    else this.#schedule(false);
  }

  /** Steps that are stored with what is added next in this turn of the event loop, or with the end of the run. */
  addSteps(steps: readonly RecordedStep[]): void {
    const { observer } = this.#options;
    for (const step of steps) {
      const { recorded, ...own } = step;
      const masked = recorded && this.#masked(recorded);
      const priced = { ...own, cost: observer?.costOf(step) ?? null, ...(masked && { masked }) };
      this.#pending.steps.push(priced);
      observer?.stepEnded?.(priced);
    }
  }

  /** Nothing is kept of steps while too much waits for its commit: storage may be slow. */
  #masked(recorded: RecordedContents): MaskedContents | undefined {
    if (this.#pendingContents > MAX_CONTENTS) return undefined;
    const masked = this.#contents.masked(recorded);
    this.#pendingContents += masked.size;
    this.#pendingBytes += masked.size;
    return masked;
  }

  /** From now on, `current` reports the attempt's progress. */
  observe(current: CurrentSteps): void {
    this.#current = current;
  }

  /** Its steps that are not stored yet; `undefined` if it executes another run, or cannot say. */
  async currentSteps(run_id: string): Promise<AttemptNow | undefined> {
    const { run_id: own, starts: attempt } = this.#lease;
    const since = this.#waits_since;
    if (own === run_id && since !== undefined) return { attempt, steps: [], waits_for_storage_since: since };
    const steps = own === run_id ? await this.#current() : undefined;
    // Steps that a commit has taken are not among them: the reader must find them stored.
    if (steps) await this.whenFlushed();
    return steps && { attempt, steps };
  }

  /** The graph executes in another process: `isBusy` tells whether the event loop of that one is busy. */
  executedElsewhere(isBusy: () => boolean): void {
    this.#isHostBusy = isBusy;
  }

  /** Stored likewise. */
  setAttempt(attempt: AttemptRecord): void {
    this.#pending = { ...this.#pending, attempt };
  }

  /** Joins the next commit, which comes within `DEFERRED_FLUSH_MS`. Has no effect once the attempt has ended. */
  addDeferred(write: Write): void {
    if (this.#drained || this.#failure) return;
    this.#pending.writes.push(write);
    this.#deferred ??= after(DEFERRED_FLUSH_MS, () => this.#schedule(true));
  }

  /** Makes every added checkpoint readable from the database. Frames may stay buffered. */
  async flush(): Promise<void> {
    if (this.#pending.writes.length > 0) return this.commit();
    await this.#committing;
    this.#throwFailure();
  }

  /**
   * `flush` for other readers; once drained, waits for the end of the run to be written. Throws `Unavailable` while
   * storage is unavailable. Any other failure, such as a full disk, belongs to the attempt: what it could not write is
   * not there to be read, and what it wrote before is.
   */
  async whenFlushed(): Promise<void> {
    try {
      await (this.#drained ? this.#finished.promise : this.flush());
    } catch (error) {
      if (error instanceof Unavailable) throw error;
    }
  }

  /** The end of the attempt cannot be written for now: fails waiting readers, as that may last. */
  waitForStorage(error: unknown, now_ms: number): void {
    this.#mayBeStored = true;
    this.#waits_since ??= now_ms;
    this.#finished.reject(error);
  }

  /** A commit is under way, or its response may be lost: storage may hold what the buffer takes for pending. */
  get mayBeStored(): boolean {
    return this.#mayBeStored;
  }

  /** The attempt has ended. */
  [Symbol.dispose](): void {
    this.#cancelTimer();
    this.#active?.remove(this.#lease.thread_id, this);
    this.#finished.resolve();
  }

  /** Commits the pending batch. */
  async commit(durability: CommitMode = 'async'): Promise<void> {
    this.#cancelTimer();
    this.#committing = this.#committing.then(() => this.#commitBatch(durability));
    await this.#committing;
    this.#throwFailure();
  }

  /** Hands over the pending batch, to join the transaction that ends the run: the last thing of an attempt. */
  async drain(): Promise<Batch> {
    this.#cancelTimer();
    this.#drained = true;
    await this.#committing;
    const batch = { ...this.#pending, cargo: this.#cargo(), follows: this.#stored };
    this.#pending = emptyBatch();
    return batch;
  }

  /** The drained batch did not join the end of the run: buffers it again, to be committed like any other. */
  undrain(batch: Batch): void {
    const { follows: _again, ...pending } = batch;
    this.#pending = pending;
    this.#drained = false;
  }

  #cargo(): Cargo | undefined {
    const { observer } = this.#options;
    return observer && { [observer.name]: observer.cargo() };
  }

  #schedule(immediate: boolean): void {
    if (this.#failure || this.#immediate) return;
    const commit = () => {
      this.#cancelTimer();
      // `onError` reports failures.
      this.#committing = this.#committing.then(() => this.#commitBatch('async'));
    };
    if (immediate) this.#immediate = setImmediate(commit);
    else this.#timer ??= flushLater(commit, { isHostBusy: () => this.#isHostBusy?.(), isFull: this.#isFull });
  }

  async #commitBatch(durability: CommitMode): Promise<void> {
    const batch = { ...this.#pending, cargo: this.#cargo() };
    if (this.#failure || batch.frames.length + batch.writes.length === 0) return;
    this.#pending = emptyBatch();
    this.#pendingBytes = this.#pendingContents = 0;
    this.#mayBeStored = true;
    const isPublishedNext = this.#options.resumable === true && batch.frames.length > 0;
    try {
      const results = await this.#db.transaction(isPublishedNext ? 'sync' : durability, async (tx) => {
        await admitBatch(tx, this.#lease, this.#stored);
        return flushBatch(tx, this.#lease, batch, this.#riders);
      });
      this.#stored += 1;
      this.#mayBeStored = false;
      const { observer } = this.#options;
      observer?.committed?.(results[observer.name]);
      this.#options.onCommitted(batch);
    } catch (error) {
      this.#failure = { error };
      if (error instanceof LeaseLost) this.#mayBeStored = false;
      const { frames, writes, steps, attempt } = this.#pending;
      this.#pending = {
        frames: [...batch.frames, ...frames],
        writes: [...batch.writes, ...writes],
        steps: [...batch.steps, ...steps],
        attempt: attempt ?? batch.attempt,
      };
      this.#options.onError(error);
    }
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  #cancelTimer(): void {
    this.#timer?.[Symbol.dispose]();
    this.#deferred?.[Symbol.dispose]();
    clearImmediate(this.#immediate);
    this.#timer = this.#deferred = this.#immediate = undefined;
  }
}

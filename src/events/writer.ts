import { systemClock } from '../core/clock.ts';
import { toJson } from '../core/json.ts';
import type { Meter } from '../core/meter.ts';
import { type Frame, isEnd } from '../storage/runs/events.ts';
import { insertRunCheckpoint } from '../storage/runs/log-positions.ts';
import type { WriteBuffer } from '../storage/runs/write-buffer.ts';
import { type EventBus, logUpdated } from './bus.ts';

/** Limit of the buffered frames of a live run, bytes of JSON text. A follower that is further behind reads the log. */
const BUFFER_BYTES = 1024 * 1024;

/** Buffers the newest frames of the runs that this process executes, so that their followers need no database. */
export class LiveRuns {
  readonly #runs = new Map<string, LiveRun>();

  /**
   * `seq`: the last frame in the log. `logged`: frames are in the log before they are pushed. `onClosed` is called once it
   * is no longer here.
   */
  open(run_id: string, seq: number, logged = false, onClosed: () => void = () => {}): LiveRun {
    const run = new LiveRun(seq, logged, () => {
      if (this.#runs.get(run_id) !== run) return;
      this.#runs.delete(run_id);
      onClosed();
    });
    this.#runs.set(run_id, run);
    return run;
  }

  get(run_id: string): LiveRun | undefined {
    return this.#runs.get(run_id);
  }
}

/** Buffer of one run's newest frames. Closed when the attempt ends or loses its lease: followers then read the log. */
export class LiveRun implements Disposable {
  #frames: Frame[] = [];
  #bytes = 0;
  #last: number;
  #committed: number;
  #isWhole = false;
  /** Every frame here is durable: a crash cannot take it back. */
  readonly logged: boolean;
  readonly #onClose: () => void;

  constructor(seq: number, logged: boolean, onClose: () => void) {
    this.#last = seq;
    this.#committed = seq;
    this.logged = logged;
    this.#onClose = onClose;
  }

  get last(): number {
    return this.#last;
  }

  /** The end of the run is here: the buffer is the end of its log, also once it is closed. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /**
   * Up to this number, its frames are those of the log, whatever became of the attempt: they are committed, and older
   * than what is buffered. The database may have lost, or stored, more than this process knows.
   */
  get certain(): number {
    return Math.min(this.#committed, (this.#frames[0]?.seq ?? this.#last + 1) - 1);
  }

  /** Call with the number of the last frame that is committed. */
  committed(seq: number): void {
    this.#committed = seq;
  }

  /** Whether this very frame is buffered. */
  has({ seq, event, data }: Frame): boolean {
    const own = this.#frames[seq - (this.#frames[0]?.seq ?? 0)];
    return own?.seq === seq && own.event === event && own.data === data;
  }

  push(frame: Frame): void {
    this.#frames.push(frame);
    this.#last = frame.seq;
    this.#bytes += frame.data.length;
    this.#isWhole ||= isEnd(frame);
    if (this.#bytes > BUFFER_BYTES && this.#frames.length > 1) this.#dropOldest();
  }

  /** Frames after `seq`, empty if it is the newest; `undefined` if they are no longer, or not yet, buffered. */
  after(seq: number): readonly Frame[] | undefined {
    if (seq === this.#last) return [];
    const first = this.#frames[0];
    if (!first || seq < first.seq - 1 || seq > this.#last) return undefined;
    return this.#frames.slice(seq - first.seq + 1);
  }

  [Symbol.dispose](): void {
    this.#onClose();
  }

  /** Drops half of the buffer, which amortises the copy. */
  #dropOldest(): void {
    while (this.#bytes > BUFFER_BYTES / 2 && this.#frames.length > 1) {
      const cut = Math.ceil(this.#frames.length / 2);
      for (const frame of this.#frames.slice(0, cut)) this.#bytes -= frame.data.length;
      this.#frames = this.#frames.slice(cut);
    }
  }
}

export interface WriterOptions {
  readonly run_id: string;
  readonly thread_id: string;
  readonly live: LiveRun;
  readonly bus: EventBus;
  readonly writes: WriteBuffer;
  /**
   * Clients may reconnect with the number of the last frame they received. A number must then never be reused, even
   * after a crash: frames are logged before they are published. Otherwise they are published immediately.
   */
  readonly resumable: boolean;
  readonly meter?: Meter | undefined;
}

/** Numbers the frames of one attempt, writes them to the log, and publishes them to followers. */
export class EventWriter {
  readonly #options: WriterOptions;
  #seq: number;
  /** When each frame that is not committed yet was written, monotonic ms; the first is `#committed` + 1. */
  #written_at: number[] = [];
  #committed: number;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#seq = options.live.last;
    this.#committed = this.#seq;
  }

  write(event: string, data: unknown): void {
    this.writeJson(event, toJson(data));
  }

  /** `json`: storable JSON text. */
  writeJson(event: string, json: string): void {
    const { writes, resumable } = this.#options;
    const frame: Frame = { seq: ++this.#seq, event, data: json };
    this.#written_at.push(systemClock.monotonic());
    writes.addFrame(frame, resumable);
    if (resumable) return;
    // Others read the log, which does not have it yet.
    this.#publish([frame], 'local');
  }

  /** Records the log position of a checkpoint: the frames up to it cover everything in the checkpoint. */
  checkpointReached(checkpoint_id: string): Promise<void> {
    const { writes, run_id } = this.#options;
    const at = { run_id, checkpoint_id, seq: this.#seq };
    return writes.add(async (tx) => insertRunCheckpoint(tx, at), 'async');
  }

  /** Call with each batch of frames after it is committed. */
  committed(frames: readonly Frame[]): void {
    const { resumable, bus, thread_id, run_id, live, meter } = this.#options;
    if (resumable) this.#publish(frames);
    else bus.updated(run_id, 'others');
    const lag_ms = this.#lagOf(frames);
    live.committed(this.#committed);
    if (lag_ms !== undefined) meter?.observe('log_lag_seconds', lag_ms / 1000);
    // Followers of a thread only read logged frames.
    bus.updated(thread_id);
  }

  /** Publishes the end frame, which the finishing transaction wrote after the last frame. */
  publishEnd(event: string, data: string): void {
    this.#publish([{ seq: ++this.#seq, event, data }]);
    this.#options.bus.updated(this.#options.thread_id);
  }

  /** Time since the oldest of these committed frames was written, ms; `undefined` without any. */
  #lagOf(frames: readonly Frame[]): number | undefined {
    const [first] = frames;
    const written_at = first && this.#written_at[first.seq - this.#committed - 1];
    const last = frames.at(-1)?.seq;
    if (written_at === undefined || last === undefined) return undefined;
    this.#written_at = this.#written_at.slice(last - this.#committed);
    this.#committed = last;
    return systemClock.monotonic() - written_at;
  }

  /** An error in place of the frames that are not committed. */
  errorInstead(data: unknown): Frame {
    return { seq: this.#committed + 1, event: 'error', data: toJson(data) };
  }

  /** The log continues differently from what was published here: followers read it from now on. */
  leaveToLog(): void {
    this.#options.live[Symbol.dispose]();
    logUpdated(this.#options.bus, this.#options);
  }

  #publish(frames: readonly Frame[], audience: 'all' | 'local' = 'all'): void {
    const { live, bus, run_id } = this.#options;
    for (const frame of frames) live.push(frame);
    bus.updated(run_id, audience);
  }
}

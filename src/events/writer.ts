import { toJson } from '../core/json.ts';
import type { Lease } from '../storage/queue/lease.ts';
import type { Frame, RunEventRepository } from '../storage/run-events.ts';
import type { EventBus } from './bus.ts';
import type { LiveRun } from './live-runs.ts';

/** How long frames of a run whose stream cannot be resumed may wait for the log, ms. */
const FLUSH_MS = 25;
/** The log is written at once when this much waits: bytes of JSON text. */
const FLUSH_BYTES = 64 * 1024;

export interface WriterOptions {
  readonly lease: Lease;
  readonly live: LiveRun;
  readonly log: RunEventRepository;
  readonly bus: EventBus;
  /**
   * Clients may come back with the number of the last frame they saw. A number must then never be given twice, not
   * even after a crash: frames are in the log before anybody sees them. Else followers see them at once.
   */
  readonly resumable: boolean;
  /** The log refused a batch; the attempt must stop. */
  readonly onError: (error: unknown) => void;
}

/** Numbers the frames of one attempt, shows them to followers, and writes them to the log in batches. */
export class EventWriter {
  readonly #options: WriterOptions;
  #waiting: Frame[] = [];
  #waitingBytes = 0;
  #seq: number;
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #failed = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#seq = options.live.last;
  }

  write(event: string, data: unknown): void {
    const frame: Frame = { seq: ++this.#seq, event, data: toJson(data) };
    this.#waiting.push(frame);
    this.#waitingBytes += frame.data.length;
    if (!this.#options.resumable) this.#show([frame]);
    this.#schedule();
  }

  /** Hands over what the log does not hold yet, to be written with the end of the run; nothing may follow. */
  async close(): Promise<Frame[]> {
    this.#cancelTimer();
    await this.#flushing;
    const rest = this.#waiting;
    this.#waiting = [];
    return rest;
  }

  /** Shows frames that the finishing transaction has written, its last one included. */
  showEnd(rest: readonly Frame[], end: Frame): void {
    this.#show(this.#options.resumable ? [...rest, end] : [end]);
  }

  /** The number that follows the last frame. */
  get nextSeq(): number {
    return this.#seq + 1;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#failed) return;
    if (this.#options.resumable || this.#waitingBytes > FLUSH_BYTES) {
      this.#timer = setImmediate(() => this.#flush());
    } else {
      this.#timer = setTimeout(() => this.#flush(), FLUSH_MS);
    }
  }

  #flush(): void {
    this.#cancelTimer();
    this.#flushing = this.#flushing.then(() => this.#writeBatch());
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#waiting;
    if (batch.length === 0 || this.#failed) return;
    this.#waiting = [];
    this.#waitingBytes = 0;
    try {
      await this.#options.log.append(this.#options.lease, batch);
      if (this.#options.resumable) this.#show(batch);
    } catch (error) {
      this.#failed = true;
      this.#waiting = [...batch, ...this.#waiting];
      this.#options.onError(error);
    }
  }

  #show(frames: readonly Frame[]): void {
    for (const frame of frames) this.#options.live.push(frame);
    this.#options.bus.hint(this.#options.lease.run_id);
  }

  #cancelTimer(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer as NodeJS.Timeout);
    clearImmediate(this.#timer as NodeJS.Immediate);
    this.#timer = undefined;
  }
}

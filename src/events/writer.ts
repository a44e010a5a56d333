import { toJson } from '../core/json.ts';
import type { Frame } from '../storage/runs/events.ts';
import { insertRunCheckpoint } from '../storage/runs/log-positions.ts';
import type { AttemptWrites } from '../storage/runs/write-buffer.ts';
import type { EventBus } from './bus.ts';
import type { LiveRun } from './live-runs.ts';

export interface WriterOptions {
  readonly run_id: string;
  readonly thread_id: string;
  readonly live: LiveRun;
  readonly bus: EventBus;
  readonly writes: AttemptWrites;
  /**
   * Clients may come back with the number of the last frame they saw. A number must then never be given twice, not
   * even after a crash: frames are in the log before anybody sees them. Else followers see them at once.
   */
  readonly resumable: boolean;
}

/** Numbers the frames of one attempt, writes them to the log, and shows them to followers. */
export class EventWriter {
  readonly #options: WriterOptions;
  #seq: number;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#seq = options.live.last;
  }

  write(event: string, data: unknown): void {
    const { writes, resumable } = this.#options;
    const frame: Frame = { seq: ++this.#seq, event, data: toJson(data) };
    writes.addFrame(frame, resumable);
    if (!resumable) this.#show([frame]);
  }

  /** The graph has made a checkpoint, and the frames so far tell everything that is in it. */
  passed(checkpoint_id: string): Promise<void> {
    const { writes, run_id } = this.#options;
    const at = { run_id, checkpoint_id, seq: this.#seq };
    return writes.add((tx) => insertRunCheckpoint(tx, at), 'relaxed');
  }

  /** To be called with each batch of frames that the log holds. */
  committed(frames: readonly Frame[]): void {
    const { resumable, bus, thread_id } = this.#options;
    if (resumable) this.#show(frames);
    // Who follows the thread has only what is in the log.
    bus.hint(thread_id);
  }

  /** Shows the end, which the finishing transaction has written behind the last frame. */
  showEnd(event: string, data: string): void {
    this.#show([{ seq: ++this.#seq, event, data }]);
    this.#options.bus.hint(this.#options.thread_id);
  }

  #show(frames: readonly Frame[]): void {
    const { live, bus, run_id } = this.#options;
    for (const frame of frames) live.push(frame);
    bus.hint(run_id);
  }
}

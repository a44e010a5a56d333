import type { Frame } from '../storage/runs/events.ts';

/** Frames kept of a run that executes here; who is further behind reads the log. Bytes of JSON text. */
const KEEP_BYTES = 1024 * 1024;

/** The newest frames of the runs that this process executes, so that their followers need no database. */
export class LiveRuns {
  readonly #runs = new Map<string, LiveRun>();

  /** Begins after `seq`, the last frame in the log. `logged`: its frames are in the log before they come here. */
  open(run_id: string, seq: number, logged = false): LiveRun {
    const run = new LiveRun(seq, logged, () => {
      if (this.#runs.get(run_id) === run) this.#runs.delete(run_id);
    });
    this.#runs.set(run_id, run);
    return run;
  }

  get(run_id: string): LiveRun | undefined {
    return this.#runs.get(run_id);
  }
}

/**
 * One run's newest frames. Closed when the attempt is over or has lost its lease: from then on followers find what comes
 * in the log.
 */
export class LiveRun implements Disposable {
  #frames: Frame[] = [];
  #bytes = 0;
  #last: number;
  /** No frame is here that a crash could take back. */
  readonly logged: boolean;
  readonly #onClose: () => void;

  constructor(seq: number, logged: boolean, onClose: () => void) {
    this.#last = seq;
    this.logged = logged;
    this.#onClose = onClose;
  }

  get last(): number {
    return this.#last;
  }

  push(frame: Frame): void {
    this.#frames.push(frame);
    this.#last = frame.seq;
    this.#bytes += frame.data.length;
    if (this.#bytes > KEEP_BYTES && this.#frames.length > 1) this.#dropOldest();
  }

  /** Frames after `seq`, none when it is the newest; undefined when they are no longer, or not yet, here. */
  after(seq: number): readonly Frame[] | undefined {
    if (seq === this.#last) return [];
    const first = this.#frames[0];
    if (!first || seq < first.seq - 1 || seq > this.#last) return undefined;
    return this.#frames.slice(seq - first.seq + 1);
  }

  [Symbol.dispose](): void {
    this.#onClose();
  }

  /** Half at once, so that a long run moves its frames rarely. */
  #dropOldest(): void {
    while (this.#bytes > KEEP_BYTES / 2 && this.#frames.length > 1) {
      const cut = Math.ceil(this.#frames.length / 2);
      for (const frame of this.#frames.slice(0, cut)) this.#bytes -= frame.data.length;
      this.#frames = this.#frames.slice(cut);
    }
  }
}

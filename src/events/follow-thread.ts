import { Latch } from '../core/latch.ts';
import type { Frame, RunEventRepository } from '../storage/runs/events.ts';
import type { ThreadLogEntry, ThreadLogRepository } from '../storage/runs/thread-log.ts';
import type { EventBus } from './bus.ts';
import { PAGE } from './follow.ts';
import { isEnd, lostEvents } from './frame.ts';
import type { SafetyPoll } from './safety-poll.ts';
import type { LiveRuns } from './writer.ts';

export interface ThreadFollowSources {
  readonly live: LiveRuns;
  readonly log: RunEventRepository;
  readonly threadLog: ThreadLogRepository;
  readonly bus: EventBus;
  readonly poll: Pick<SafetyPoll, 'wait'>;
}

/**
 * One entry of a thread's log: a frame of one of its runs, the end included, under the thread's own number, or an error
 * in place of what the log lacks.
 */
export interface ThreadFrame {
  readonly seq: number;
  /** Of an event outside of runs: its own id. */
  readonly run_id: string;
  readonly frame: Frame;
}

/**
 * Reads a thread's log (`storage/runs/thread-log.ts`) run by run: from memory where a run executes here and its frames are
 * in the log before they are shown, else from the database.
 */
export class ThreadReader {
  readonly #sources: ThreadFollowSources;
  readonly #thread_id: string;
  #seq: number;
  /** Where the reader is; undefined when it must look. */
  #run: ThreadLogEntry | undefined;

  constructor(sources: ThreadFollowSources, thread_id: string, after: number) {
    this.#sources = sources;
    this.#thread_id = thread_id;
    this.#seq = after;
  }

  /** The number of the last entry that was read, or that is known to be gone. */
  get seq(): number {
    return this.#seq;
  }

  /** The next entries in order; none when there are no more for now. */
  async next(): Promise<readonly ThreadFrame[]> {
    for (;;) {
      const run = this.#run ?? (await this.#sources.threadLog.entryAfter(this.#thread_id, this.#seq));
      this.#run = run;
      if (!run) return [];
      this.#seq = Math.max(this.#seq, run.base);
      const frames = await this.#framesOf(run);
      if (frames.length > 0) return frames;
      if (run.length === null) {
        // As long as it executes here, the next frames need no look at where they belong.
        if (!this.#sources.live.get(run.run_id)) this.#run = undefined;
        return [];
      }
      this.#run = undefined;
      // Its log was dropped while it was read.
      this.#seq = run.base + run.length;
    }
  }

  async #framesOf({ run_id, base, length }: ThreadLogEntry): Promise<ThreadFrame[]> {
    const { live, log } = this.#sources;
    // The end of a run is in the log a moment before it is in memory.
    const local = length === null ? live.get(run_id) : undefined;
    const after = this.#seq - base;
    const found = (local?.logged && local.after(after)) || (await log.readAfter(run_id, after, PAGE));
    // Only of a run that had ended before its log was read: else what is missing may be on its way.
    const frames = length === null ? [] : this.#gapBefore(found[0], { run_id, base });
    for (const frame of found) {
      // Two sources that race must not make a gap (invariant 3).
      if (base + frame.seq !== this.#seq + 1) break;
      this.#seq += 1;
      frames.push({ seq: this.#seq, run_id, frame });
      if (isEnd(frame)) this.#run = undefined;
    }
    return frames;
  }

  /** Passes over what the log lacks before the first frame that was found, and reports it. */
  #gapBefore(
    found: Frame | undefined,
    { run_id, base }: Pick<ThreadLogEntry, 'run_id' | 'base'>,
  ): ThreadFrame[] {
    const first = this.#seq + 1;
    if (!found || base + found.seq === first) return [];
    this.#seq = base + found.seq - 1;
    const frame = lostEvents(found.seq - 1, { first, last: this.#seq, of: 'thread' });
    return [{ seq: this.#seq, run_id, frame }];
  }
}

/** Yields each entry of the thread's log after number `after` once and in order, through all runs, until abort. */
export async function* followThread(
  sources: ThreadFollowSources,
  thread_id: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<ThreadFrame, void, void> {
  const changed = new Latch();
  // Before the first read, or what is written in between would wait for the safety poll.
  using _subscription = sources.bus.onUpdated(thread_id, () => changed.open());
  const reader = new ThreadReader(sources, thread_id, after);
  while (!signal.aborted) {
    const frames = await reader.next();
    for (const frame of frames) {
      yield frame;
      if (signal.aborted) return;
    }
    if (frames.length > 0) continue;
    await sources.poll.wait({ of: 'thread', id: thread_id, seq: reader.seq }, changed, signal);
  }
}

/** The number of the newest entry; 0 when there is none. */
export async function lastThreadSeq(
  { live, log, threadLog }: ThreadFollowSources,
  thread_id: string,
): Promise<number> {
  const run = await threadLog.newest(thread_id);
  if (!run) return 0;
  if (run.length !== null) return run.base + run.length;
  const local = live.get(run.run_id);
  return run.base + (local?.logged ? local.last : await log.lastSeq(run.run_id));
}

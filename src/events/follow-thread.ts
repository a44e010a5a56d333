import { Latch } from '../core/latch.ts';
import { type Frame, isEnd, type RunEventRepository } from '../storage/runs/events.ts';
import type { ThreadLogEntry, ThreadLogRepository } from '../storage/runs/thread-log.ts';
import type { EventBus } from './bus.ts';
import { PAGE } from './follow.ts';
import { lostEvents } from './frame.ts';
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
 * An entry of a thread's log: a frame of one of its runs (end frame included) under its thread-wide sequence number, or
 * an error frame in place of a gap.
 */
export interface ThreadFrame {
  readonly seq: number;
  /** For an event outside of a run: the event's own id. */
  readonly run_id: string;
  readonly frame: Frame;
}

/**
 * Reads a thread's log (`storage/runs/thread-log.ts`) run by run: from memory if the run executes here and its frames
 * are logged before they are published, otherwise from the database. The run being read is not looked up again while it
 * has more to read.
 */
export class ThreadReader {
  readonly #sources: ThreadFollowSources;
  readonly #thread_id: string;
  #seq: number;
  /** The run being read; `undefined` if it must be looked up. It may have ended, or be deleted, since it was. */
  #run: ThreadLogEntry | undefined;
  #isAllRead = false;

  constructor(sources: ThreadFollowSources, thread_id: string, after: number) {
    this.#sources = sources;
    this.#thread_id = thread_id;
    this.#seq = after;
  }

  /** Sequence number of the last entry that was read, or that is known to be lost. */
  get seq(): number {
    return this.#seq;
  }

  /** There was nothing after the last read: what came since has been notified since, if the caller had subscribed. */
  get isAllRead(): boolean {
    return this.#isAllRead;
  }

  /** Returns the next entries in order; empty if there are no more yet. */
  async next(): Promise<readonly ThreadFrame[]> {
    const known = this.#run;
    if (known) {
      const frames = await this.#framesOf(known);
      const isLive = known.length === null && this.#sources.live.get(known.run_id) !== undefined;
      if (frames.length > 0 || isLive) return frames;
    }
    for (;;) {
      const run = await this.#sources.threadLog.entryAfter(this.#thread_id, this.#seq);
      this.#run = run;
      // What an unchanged run logged since the read above has been notified since.
      if (!run || (run.length === null && run.run_id === known?.run_id)) return [];
      this.#seq = Math.max(this.#seq, run.base);
      const frames = await this.#framesOf(run);
      if (frames.length > 0 || run.length === null) return frames;
      // The log was deleted during the read: skip the run.
      this.#seq = run.base + run.length;
    }
  }

  async #framesOf(run: ThreadLogEntry): Promise<ThreadFrame[]> {
    const { run_id, base, length } = run;
    const { found, isLast } = await this.#readAfter(run);
    // A gap counts only if the run had ended before the read: otherwise the missing frames may still arrive.
    const frames = length === null ? [] : this.#gapBefore(found[0], run);
    for (const frame of found) {
      // Only the next number: a race between memory and log must not leave a gap (invariant 3).
      if (base + frame.seq !== this.#seq + 1) break;
      this.#seq += 1;
      frames.push({ seq: this.#seq, run_id, frame });
      // The next run may have begun before the read.
      if (isEnd(frame)) this.#run = undefined;
    }
    this.#isAllRead = isLast && this.#run?.length === null && frames.length === found.length;
    return frames;
  }

  /** `isLast`: the log had no more frames. */
  async #readAfter({ run_id, base, length }: ThreadLogEntry) {
    const { live, log } = this.#sources;
    // The end frame is in the log before it is in memory: read an ended run from the log.
    const local = length === null ? live.get(run_id) : undefined;
    const buffered = local?.logged ? local.after(this.#seq - base) : undefined;
    if (buffered) return { found: buffered, isLast: false };
    const { frames, isLast } = await log.readAfter(run_id, this.#seq - base, PAGE);
    return { found: frames, isLast };
  }

  /** Skips the gap before the first frame found, and reports it. */
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

/** Yields each entry of the thread's log after `after` exactly once and in order, across runs, until abort. */
export async function* followThread(
  sources: ThreadFollowSources,
  thread_id: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<ThreadFrame, void, void> {
  const changed = new Latch();
  // Subscribe before the first read: an entry written in between would wait for the safety poll.
  using _subscription = sources.bus.onUpdated(thread_id, () => changed.open());
  const reader = new ThreadReader(sources, thread_id, after);
  while (!signal.aborted) {
    const frames = await reader.next();
    for (const frame of frames) {
      yield frame;
      if (signal.aborted) return;
    }
    if (frames.length > 0 && !reader.isAllRead) continue;
    await sources.poll.wait({ of: 'thread', id: thread_id, seq: reader.seq }, changed, signal);
  }
}

/** Sequence number of the newest entry; 0 if there is none. */
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

import type { Latch } from '../core/latch.ts';
import { after, type Timer } from '../core/timers.ts';
import type { LogEnds } from '../storage/runs/log-positions.ts';
import type { LiveRuns } from './live-runs.ts';

/** A lost hint costs this much, ms, and never a frame. */
export const SAFETY_POLL_MS = 500;
/** Longer than any follower waits for the poll. */
const LONG_MS = 60 * 60_000;

/** A log that is followed, and how far. */
export interface Position {
  readonly of: 'run' | 'thread';
  readonly id: string;
  readonly seq: number;
}

interface Waiting extends Position {
  readonly news: Latch;
  isOver: boolean;
  failure: { readonly error: unknown } | undefined;
}

/**
 * Looks for everybody who follows a log: every 500 ms while somebody waits, two statements for some hundred logs,
 * however many wait for each. Whoever has all of a run that executes here will be told by it.
 */
export class SafetyPoll {
  readonly #ends: LogEnds;
  readonly #live: LiveRuns;
  readonly #waiting = new Set<Waiting>();
  #timer: Timer | undefined;

  constructor(ends: LogEnds, live: LiveRuns) {
    this.#ends = ends;
    this.#live = live;
  }

  /**
   * Waits until `news` opens, the log goes on after the position, or abort. False when the log has ended there: its run
   * has left the queue, which it does in the transaction that completes its log. Throws what a look at the logs threw.
   */
  async wait(position: Position, news: Latch, signal: AbortSignal): Promise<boolean> {
    const waiting: Waiting = { ...position, news, isOver: false, failure: undefined };
    this.#waiting.add(waiting);
    this.#timer ??= after(SAFETY_POLL_MS, () => void this.#poll());
    await news.wait(LONG_MS, signal);
    this.#waiting.delete(waiting);
    if (waiting.failure) throw waiting.failure.error;
    return !waiting.isOver;
  }

  async #poll(): Promise<void> {
    try {
      await this.#look([...this.#waiting]);
    } catch (error) {
      for (const waiting of this.#waiting) {
        waiting.failure = { error };
        waiting.news.open();
      }
    }
    this.#timer = this.#waiting.size > 0 ? after(SAFETY_POLL_MS, () => void this.#poll()) : undefined;
  }

  async #look(all: readonly Waiting[]): Promise<void> {
    const idsOf = (kind: Position['of']) => [
      ...new Set(
        all.filter(({ of, id, seq }) => of === kind && this.#live.get(id)?.last !== seq).map(({ id }) => id),
      ),
    ];
    const runs = new Map((await this.#ends.ofRuns(idsOf('run'))).map((end) => [end.run_id, end]));
    const threads = await this.#ends.ofThreads(idsOf('thread'));
    const lasts = new Map(threads.map(({ thread_id, last }) => [thread_id, last]));
    for (const waiting of all) {
      const run = waiting.of === 'run' ? runs.get(waiting.id) : undefined;
      const last = run?.last ?? lasts.get(waiting.id) ?? 0;
      // A run that executes here ends here before its log does.
      waiting.isOver = run !== undefined && !run.in_flight && !this.#live.get(waiting.id);
      if (waiting.isOver || last > waiting.seq) waiting.news.open();
    }
  }
}

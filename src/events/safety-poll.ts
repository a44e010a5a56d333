import { type Clock, systemClock } from '../core/clock.ts';
import type { Latch } from '../core/latch.ts';
import { after, type Timer } from '../core/timers.ts';
import type { LogEnds } from '../storage/runs/log-positions.ts';
import type { EventBus, PollIntervals } from './bus.ts';
import type { LiveRuns } from './writer.ts';

/** Poll interval, ms: the latency that a lost notification costs. */
export const SAFETY_POLL_MS = 500;
const INTERVALS: PollIntervals = { rare: SAFETY_POLL_MS, usual: SAFETY_POLL_MS, frequent: 100 };
/** Time-out of a wait for the latch, ms: far longer than a poll takes. */
const MAX_WAIT_MS = 60 * 60_000;
/** How long polls may fail, ms: longer than a restart or a fail-over of the database takes. */
const MAX_FAILING_MS = 30_000;

/** A followed log, and the last sequence number that its follower has. */
export interface Position {
  readonly of: 'run' | 'thread';
  readonly id: string;
  readonly seq: number;
}

interface Waiter extends Position {
  readonly changed: Latch;
  ended: boolean;
  failure: { readonly error: unknown } | undefined;
}

/**
 * Polls for all followers in one batch: every 500 ms while any waits (100 ms instead of notifications), two statements
 * for some hundred logs, however many follow each. Skips a follower that is up to date with a run executing here: the
 * bus notifies it.
 */
export class SafetyPoll {
  readonly #ends: LogEnds;
  readonly #live: LiveRuns;
  readonly #bus: EventBus;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #waiters = new Set<Waiter>();
  #pollTimer: Timer | undefined;
  /** When the first of the polls failed that have failed in a row, monotonic ms; `undefined` if the last one did not. */
  #failing_since: number | undefined;

  constructor(ends: LogEnds, live: LiveRuns, bus: EventBus, clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#ends = ends;
    this.#live = live;
    this.#bus = bus;
    this.#clock = clock;
  }

  /**
   * Waits until `changed` opens, the log grows past the position, or abort. Resolves to `false` if the log ended there:
   * its run has left the queue, in the transaction that completes its log. Rethrows the error of a poll if those that
   * looked for this log have failed for 30 s.
   */
  async wait(position: Position, changed: Latch, signal: AbortSignal): Promise<boolean> {
    const waiter: Waiter = { ...position, changed, ended: false, failure: undefined };
    this.#waiters.add(waiter);
    this.#pollTimer ??= this.#pollLater();
    await changed.wait(MAX_WAIT_MS, signal);
    this.#waiters.delete(waiter);
    if (waiter.failure) throw waiter.failure.error;
    return !waiter.ended;
  }

  async #poll(): Promise<void> {
    // The others have everything of a run that executes here: the bus notifies them.
    const asking = [...this.#waiters].filter(({ id, seq }) => this.#live.get(id)?.last !== seq);
    try {
      await this.#checkLogs(asking);
      this.#failing_since = undefined;
    } catch (error) {
      this.#failed(asking, error);
    }
    const isWaitedFor = this.#waiters.size > 0;
    this.#pollTimer = isWaitedFor ? this.#pollLater() : undefined;
    if (!isWaitedFor) this.#failing_since = undefined;
  }

  #failed(asking: readonly Waiter[], error: unknown): void {
    const now = this.#clock.monotonic();
    this.#failing_since ??= now;
    if (now - this.#failing_since < MAX_FAILING_MS) return;
    for (const waiter of asking) {
      waiter.failure = { error };
      waiter.changed.open();
    }
  }

  #pollLater(): Timer {
    return after(INTERVALS[this.#bus.poll_rate], () => void this.#poll());
  }

  async #checkLogs(asking: readonly Waiter[]): Promise<void> {
    const idsOf = (kind: Position['of']) => [
      ...new Set(asking.filter(({ of }) => of === kind).map(({ id }) => id)),
    ];
    const runs = new Map((await this.#ends.ofRuns(idsOf('run'))).map((end) => [end.run_id, end]));
    const threads = await this.#ends.ofThreads(idsOf('thread'));
    const lasts = new Map(threads.map(({ thread_id, last }) => [thread_id, last]));
    for (const waiter of asking) {
      const run = waiter.of === 'run' ? runs.get(waiter.id) : undefined;
      const last = run?.last ?? lasts.get(waiter.id) ?? 0;
      // While the run is live in this process, its end frame is published from memory.
      waiter.ended = run !== undefined && !run.in_flight && !this.#live.get(waiter.id);
      if (waiter.ended || last > waiter.seq) waiter.changed.open();
    }
  }
}

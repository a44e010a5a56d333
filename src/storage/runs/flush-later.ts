import { systemClock } from '../../core/clock.ts';
import { isEventLoopBusy, saturationMeter } from '../../core/event-loop.ts';
import { after, type Timer } from '../../core/timers.ts';

/** How long writes that need not be durable wait for their commit, ms. A crash repeats at most this much. */
const FLUSH_INTERVAL_MS = 10;
/**
 * Attempts of graph hosts that wait for this long already join the commit of others, ms: each commit writes the same pages
 * again. Graphs in process let the event loop turn so rarely that several are due in each turn, and there more batches of
 * each attempt would cost more than fewer commits save.
 */
const SHARED_FLUSH_MS = 5;
/** The same is true of a server that is busy: a timer that is this late means that it is, ms. */
const ON_TIME_MS = 2;
/**
 * The same while runs keep the event loop busy, ms: their commits would take time from the following steps, and most such
 * runs end soon. With 10 ms, 16 concurrent runs of ten steps cost a tenth more CPU, and most trivial runs of a full
 * queue on PostgreSQL a second transaction.
 */
const BUSY_FLUSH_INTERVAL_MS = 200;
/** A timer that is this late shows a busy event loop, ms: that of a server, for example, whose graphs are in hosts. */
const LATE_MS = 5;

export interface FlushOptions {
  /** The event loop of the graph's host is busy; `undefined` if the graph executes in this process. */
  readonly isHostBusy: () => boolean | undefined;
  /** So much waits that it is flushed after the shorter interval. */
  readonly isFull: () => boolean;
}

interface Waiting extends FlushOptions {
  readonly flush: () => void;
  readonly latest: number;
  readonly isSaturated: () => boolean;
  due: number;
}

/** Delayed flushes of all attempts, first due first. */
const waiting = new Set<Waiting>();
let timer: Timer | undefined;

/** Calls `flush` after the interval: the longer one while this event loop is busy, or that of the graph's host. */
export function flushLater(flush: () => void, options: FlushOptions): Disposable {
  const now = systemClock.monotonic();
  const times = { latest: now + BUSY_FLUSH_INTERVAL_MS, due: now + FLUSH_INTERVAL_MS };
  const added = { flush, ...options, ...times, isSaturated: saturationMeter() };
  waiting.add(added);
  setTimer();
  return {
    [Symbol.dispose]() {
      waiting.delete(added);
      if (waiting.size === 0) clearTimer();
    },
  };
}

function setTimer(): void {
  const [first] = waiting;
  if (first) timer ??= after(first.due - systemClock.monotonic(), onTimer);
}

function clearTimer(): void {
  timer?.[Symbol.dispose]();
  timer = undefined;
}

function onTimer(): void {
  timer = undefined;
  const now = systemClock.monotonic();
  const [first] = waiting;
  // The one that it was for may have been flushed for another reason.
  if (first && first.due <= now) {
    const isOnTime = now - first.due <= ON_TIME_MS;
    flushDueBy(isOnTime ? now + FLUSH_INTERVAL_MS - SHARED_FLUSH_MS : now, now);
  }
  setTimer();
}

function flushDueBy(until: number, now: number): void {
  const isLoopBusy = isEventLoopBusy();
  for (const each of waiting) {
    if (each.due > until) return;
    const isHostBusy = each.isHostBusy();
    if (each.due > now && isHostBusy === undefined) continue;
    waiting.delete(each);
    const isLate = now - each.due > LATE_MS;
    const isBusy = isLate || isLoopBusy || isHostBusy || each.isSaturated();
    if (isBusy && now < each.latest && !each.isFull()) {
      each.due = now + FLUSH_INTERVAL_MS;
      waiting.add(each);
    } else each.flush();
  }
}

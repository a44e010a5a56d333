import { systemClock } from '../../core/clock.ts';
import { isEventLoopBusy, saturationMeter } from '../../core/event-loop.ts';
import { after, type Timer } from '../../core/timers.ts';

/** How long writes that need not be durable wait for their commit, ms. A crash repeats at most this much. */
const FLUSH_INTERVAL_MS = 10;
/**
 * The same while runs keep the event loop busy, ms: their commits would take time from the following steps, and most such
 * runs end soon. With 10 ms, 16 concurrent runs of ten steps cost a tenth more CPU, and most trivial runs of a full
 * queue on PostgreSQL a second transaction.
 */
const BUSY_FLUSH_INTERVAL_MS = 200;
/** A timer that is this late shows a busy event loop, ms: that of a server, for example, whose graphs are in hosts. */
const LATE_MS = 5;

/** Calls `flush` when the interval is over: the longer one while this event loop is busy, or that of the graph's host. */
export function flushLater(flush: () => void, isHostBusy: () => boolean): Disposable {
  const latest = systemClock.monotonic() + BUSY_FLUSH_INTERVAL_MS;
  const isSaturated = saturationMeter();
  let timer: Timer;
  const wait = () => {
    const due = systemClock.monotonic() + FLUSH_INTERVAL_MS;
    timer = after(FLUSH_INTERVAL_MS, () => {
      const now = systemClock.monotonic();
      const isBusy = now - due > LATE_MS || isHostBusy() || isEventLoopBusy() || isSaturated();
      if (isBusy && now < latest) wait();
      else flush();
    });
  };
  wait();
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

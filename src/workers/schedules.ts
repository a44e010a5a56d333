import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { CronTicks } from '../services/crons/cron-ticks.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import { Loop } from './loop.ts';

/** The longest sleep, ms: clocks may be set, and another process may make a cron. */
const MAX_CRON_SLEEP_MS = 5_000;
/** A clock that goes back by less was only corrected, ms. */
const CLOCK_TOLERANCE_MS = 1_000;

/** Makes the runs of crons when their time comes; sleeps until the next one is due. */
export function cronLoop({ ticks, clock, logger }: { ticks: CronTicks; clock: Clock; logger: Logger }): Loop {
  /** How far the wall clock is ahead of the monotonic one; unknown before the first tick. */
  let clock_offset_ms = Number.POSITIVE_INFINITY;
  return new Loop({
    name: 'crons',
    logger,
    async tick() {
      const offset_ms = clock.now() - clock.monotonic();
      if (offset_ms < clock_offset_ms - CLOCK_TOLERANCE_MS) await ticks.recalculateDates();
      clock_offset_ms = offset_ms;
      await ticks.fireDue();
      const next = await ticks.nextDue();
      if (next === undefined) return MAX_CRON_SLEEP_MS;
      // Timers may be early by a part of a millisecond.
      return Math.min(MAX_CRON_SLEEP_MS, Math.max(1, Date.parse(next) - clock.now() + 1));
    },
  });
}

/** The longest sleep, ms: clocks may be set, and another process may schedule. */
const MAX_SLEEP_MS = 5_000;

/** Makes delayed runs ready when their time comes; sleeps until the next one is due. */
export function delayedRunsLoop({
  queue,
  bus,
  clock,
  logger,
}: {
  queue: RunQueue;
  bus: EventBus;
  clock: Clock;
  logger: Logger;
}): Loop {
  return new Loop({
    name: 'due runs',
    logger,
    async tick() {
      await queue.promoteDue();
      // A run that backs off is ready already, so the worker is woken whenever a time has come.
      bus.emit('run.ready');
      const next = await queue.nextDue();
      if (next === undefined) return MAX_SLEEP_MS;
      return Math.min(MAX_SLEEP_MS, Math.max(1, Date.parse(next) - clock.now() + 1));
    },
  });
}

import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus, PollIntervals } from '../events/bus.ts';
import type { CronTicks } from '../services/crons/cron-ticks.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import { Loop } from './loop.ts';

/** Longest sleep, ms: clocks may be set, and another process may create a cron or schedule a run. */
const MAX_SLEEP_MS: PollIntervals = { rare: 30_000, usual: 5_000, frequent: 1_000 };
/** A backward step of the clock below this is a mere correction, ms. */
const CLOCK_TOLERANCE_MS = 1_000;

/** Poll of a delayed run while the clock of this process is ahead of the database's, ms. */
const CLOCK_AHEAD_POLL_MS = 100;

/** Creates the runs of due crons; sleeps until the next one is due. */
export function cronLoop({
  ticks,
  bus,
  clock,
  logger,
}: {
  ticks: CronTicks;
  bus: Pick<EventBus, 'poll_rate'>;
  clock: Clock;
  logger: Logger;
}): Loop {
  /** Wall clock minus monotonic clock, ms; infinite before the first tick. */
  let clock_offset_ms = Number.POSITIVE_INFINITY;
  return new Loop({
    name: 'crons',
    logger,
    async tick() {
      const offset_ms = clock.now() - clock.monotonic();
      if (offset_ms < clock_offset_ms - CLOCK_TOLERANCE_MS) await ticks.recalculateDates();
      clock_offset_ms = offset_ms;
      // Asked first: most ticks of an idle process find nothing due, and need no second read.
      let next = await ticks.nextDue();
      if (next !== undefined && Date.parse(next) <= clock.now()) {
        await ticks.fireDue();
        next = await ticks.nextDue();
      }
      return sleepUntil(next, clock, MAX_SLEEP_MS[bus.poll_rate]);
    },
  });
}

/** Makes delayed runs ready when they are due; sleeps until the next one is due. */
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
  let next: string | undefined;
  return new Loop({
    name: 'due runs',
    logger,
    async tick() {
      // A run in back-off is in state `ready` already, and only its time has come.
      const before = next;
      const { is_overdue, next: first } = await queue.nextDue();
      const isPromoted = is_overdue && (await queue.promoteDue());
      next = is_overdue ? (await queue.nextDue()).next : first;
      if (isPromoted || (before !== undefined && before !== next)) bus.emit('run.ready');
      // Due by this clock, but not by that of the database, which decides.
      if (next !== undefined && Date.parse(next) <= clock.now()) return CLOCK_AHEAD_POLL_MS;
      return sleepUntil(next, clock, MAX_SLEEP_MS[bus.poll_rate]);
    },
  });
}

/** Sleep until `next`, ms, at most `max_ms`. One more than needed: timers may fire early by a fraction of it. */
function sleepUntil(next: string | undefined, clock: Clock, max_ms: number): number {
  return next === undefined ? max_ms : Math.min(max_ms, Math.max(1, Date.parse(next) - clock.now() + 1));
}

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

/** Creates the runs of due crons; sleeps until the next one is due. */
export function cronLoop({
  ticks,
  bus,
  clock,
  logger,
}: {
  ticks: CronTicks;
  bus: EventBus;
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
      const in_ms = next === undefined ? undefined : Date.parse(next) - clock.now();
      return sleepFor(in_ms, MAX_SLEEP_MS[bus.poll_rate]);
    },
  });
}

/** Makes delayed runs ready when they are due; sleeps until the next one is due. */
export function delayedRunsLoop({
  queue,
  bus,
  logger,
}: {
  queue: RunQueue;
  bus: EventBus;
  logger: Logger;
}): Loop {
  let due_at: string | undefined;
  return new Loop({
    name: 'due runs',
    logger,
    async tick() {
      // A run in back-off is in state `ready` already, and only its time has come.
      const before = due_at;
      const { is_overdue, next: first } = await queue.nextDue();
      const isPromoted = is_overdue && (await queue.promoteDue());
      const next = is_overdue ? (await queue.nextDue()).next : first;
      due_at = next?.due_at;
      if (isPromoted || (before !== undefined && before !== due_at)) bus.emit('run.ready');
      return sleepFor(next?.in_ms, MAX_SLEEP_MS[bus.poll_rate]);
    },
  });
}

/** Sleep, ms, at most `max_ms`. One more than needed: timers may fire early by a fraction of it. */
function sleepFor(ms: number | undefined, max_ms: number): number {
  return ms === undefined ? max_ms : Math.min(max_ms, Math.max(1, ms + 1));
}

import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { CronTicks } from '../services/cron-ticks.ts';
import { Loop } from './loop.ts';

/** The longest sleep, ms: clocks may be set, and another process may make a cron. */
const LONGEST_MS = 5_000;
/** A clock that goes back by less was only corrected, ms. */
const SET_BACK_MS = 1_000;

/** Makes the runs of crons when their time comes; sleeps until the next one is due. */
export function cronLoop({ ticks, clock, logger }: { ticks: CronTicks; clock: Clock; logger: Logger }): Loop {
  /** How far the wall clock is ahead of the monotonic one; unknown before the first tick. */
  let ahead_ms = Number.POSITIVE_INFINITY;
  return new Loop({
    name: 'crons',
    logger,
    async tick() {
      const lead_ms = clock.now() - clock.monotonic();
      if (lead_ms < ahead_ms - SET_BACK_MS) await ticks.realign();
      ahead_ms = lead_ms;
      await ticks.fireDue();
      const next = await ticks.nextDue();
      if (next === undefined) return LONGEST_MS;
      // Timers may be early by a part of a millisecond.
      return Math.min(LONGEST_MS, Math.max(1, Date.parse(next) - clock.now() + 1));
    },
  });
}

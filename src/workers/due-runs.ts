import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import { Loop } from './loop.ts';

/** The longest sleep, ms: clocks may be set, and another process may schedule. */
const LONGEST_MS = 5_000;

/** Makes delayed runs ready when their time comes; sleeps until the next one is due. */
export function dueRunsLoop({
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
      bus.wake();
      const next = await queue.nextDue();
      if (next === undefined) return LONGEST_MS;
      return Math.min(LONGEST_MS, Math.max(1, Date.parse(next) - clock.now() + 1));
    },
  });
}

import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { ReapRules } from '../storage/queue/reap.ts';
import { Loop } from './loop.ts';

const REAP_MS = 5_000;

/** Gives the runs of dead workers another attempt, or their end. */
export function reaperLoop({
  queue,
  bus,
  rules,
  logger,
}: {
  queue: RunQueue;
  bus: EventBus;
  rules: ReapRules;
  logger: Logger;
}): Loop {
  return new Loop({
    name: 'reaper',
    logger,
    async tick() {
      const taken = await queue.reap(rules);
      if (taken > 0) {
        logger.warn('took back runs of a worker that is gone', { runs: taken });
        bus.wake();
        bus.scheduled();
        bus.outbox();
      }
      return REAP_MS;
    },
  });
}

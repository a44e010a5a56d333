import { expect, test } from 'vitest';
import { systemClock, timestamp } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/logger.ts';
import { memoryBus } from '../../src/events/bus.ts';
import type { RunQueue } from '../../src/storage/queue/queue.ts';
import { delayedRunsLoop } from '../../src/workers/schedules.ts';

test('a process whose clock is ahead of the database waits for it without asking at every moment', async () => {
  const clock = { ...systemClock, now: () => systemClock.now() + 60_000 };
  const due = timestamp(systemClock.now() + 300);
  const isDue = () => systemClock.now() >= Date.parse(due);
  let asked = 0;
  const queue: Pick<RunQueue, 'promoteDue' | 'nextDue'> = {
    async promoteDue() {
      asked += 1;
      return isDue();
    },
    nextDue: async () => (isDue() ? undefined : due),
  };
  const bus = memoryBus();
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  using _subscription = bus.on('run.ready', resolve);
  const loop = delayedRunsLoop({ queue: queue as RunQueue, bus, clock, logger: silentLogger });
  loop.start();
  await ready;
  await loop.stop();
  expect(asked).toBeLessThan(10);
});

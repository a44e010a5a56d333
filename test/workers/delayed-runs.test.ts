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
    promoteDue: async () => true,
    async nextDue() {
      asked += 1;
      return { is_overdue: isDue(), next: isDue() ? undefined : due };
    },
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

test('a process without delayed runs asks once, and promotes none', async () => {
  const asked: string[] = [];
  const { promise: both, resolve } = Promise.withResolvers<void>();
  const queue: Pick<RunQueue, 'promoteDue' | 'nextDue'> = {
    async promoteDue() {
      asked.push('promote');
      return false;
    },
    async nextDue() {
      asked.push('next due');
      if (asked.length >= 2) resolve();
      return { is_overdue: false, next: undefined };
    },
  };
  const loop = delayedRunsLoop({
    queue: queue as RunQueue,
    bus: memoryBus(),
    clock: systemClock,
    logger: silentLogger,
  });
  loop.start();
  loop.wake();
  await both;
  await loop.stop();
  expect(asked).toEqual(['next due', 'next due']);
});

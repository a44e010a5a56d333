import { expect, test } from 'vitest';
import { systemClock, timestamp } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/logger.ts';
import { memoryBus } from '../../src/events/bus.ts';
import type { RunQueue } from '../../src/storage/queue/queue.ts';
import { delayedRunsLoop } from '../../src/workers/schedules.ts';
import { partsOf } from '../support/parts-of.ts';

const HOUR_MS = 3_600_000;

test.for([
  ['behind', -HOUR_MS],
  ['ahead of', HOUR_MS],
] as const)(
  'a delayed run starts when it is due, although the clock of the process is %s that of the database',
  // Sooner than the loop looks by itself.
  { timeout: 20_000 },
  async ([_where, offset_ms]) => {
    const due = systemClock.monotonic() + 300;
    const left = () => due - systemClock.monotonic();
    const due_at = timestamp(systemClock.now() - offset_ms);
    let asked = 0;
    const queue: Pick<RunQueue, 'promoteDue' | 'nextDue'> = {
      promoteDue: async () => true,
      async nextDue() {
        asked += 1;
        return left() <= 0
          ? { is_overdue: true, next: undefined }
          : { is_overdue: false, next: { due_at, in_ms: left() } };
      },
    };
    const bus = memoryBus('rare');
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    using _subscription = bus.on('run.ready', resolve);
    const loop = delayedRunsLoop({ queue: partsOf(queue), bus, logger: silentLogger });
    loop.start();
    await ready;
    await loop.stop();
    expect(asked).toBeLessThan(10);
  },
);

test('a process without delayed runs queries the next due time once and promotes none', async () => {
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
  const loop = delayedRunsLoop({ queue: partsOf(queue), bus: memoryBus(), logger: silentLogger });
  loop.start();
  loop.wake();
  await both;
  await loop.stop();
  expect(asked).toEqual(['next due', 'next due']);
});

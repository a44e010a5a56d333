import { expect, test } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import { Unavailable } from '../../src/core/errors.ts';
import { silentLogger } from '../../src/core/logger.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { reaperTick } from '../../src/workers/reaper.ts';
import { partsOf } from '../support/parts-of.ts';
import { FAILURE_RULES, WORKER } from '../support/queued-runs.ts';

test('after an outage of the database, the reaper waits for heartbeats of live workers', async () => {
  let now = 0;
  const clock: Clock = { now: () => now, monotonic: () => now };
  let isAway = true;
  const reaped: number[] = [];
  const queue = {
    async reap() {
      reaped.push(now);
      if (isAway) throw new Unavailable('away');
      return 0;
    },
    deleteExpiredWorkers: async () => {},
  };
  const rules = { ...FAILURE_RULES, worker_id: WORKER.worker_id, backoff_ms: 0 };
  const tick = reaperTick({
    queue: partsOf(queue),
    outbox: partsOf({ releaseLost: async () => 0 }),
    bus: memoryBus(),
    rules,
    heartbeat_ms: 5000,
    nothingLostFor: () => 0,
    clock,
    logger: silentLogger,
  });
  await expect(tick()).rejects.toThrow('away');
  isAway = false;
  now = 4_000;
  expect(await tick()).toBe(6_000);
  now = 10_000;
  await tick();
  expect(reaped).toEqual([0, 10_000]);
});

test('the reaper does not search while a heartbeat has just found nothing', async () => {
  const clock: Clock = { now: () => 0, monotonic: () => 0 };
  let nothing_ms = 1_500;
  let searches = 0;
  const tick = reaperTick({
    queue: partsOf({
      async reap() {
        searches += 1;
        return 0;
      },
      deleteExpiredWorkers: async () => {},
    }),
    outbox: partsOf({ releaseLost: async () => 0 }),
    bus: memoryBus(),
    rules: { ...FAILURE_RULES, worker_id: WORKER.worker_id, backoff_ms: 0 },
    heartbeat_ms: 5000,
    nothingLostFor: () => nothing_ms,
    clock,
    logger: silentLogger,
  });
  expect(await tick()).toBe(1_500);
  expect(searches).toBe(0);
  nothing_ms = 0;
  expect(await tick()).toBe(5_000);
  expect(searches).toBe(1);
});

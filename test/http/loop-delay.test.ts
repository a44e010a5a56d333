import { setImmediate as nextTurn } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { measureProcess } from '../../src/http/metrics/process.ts';
import { until } from '../support/until.ts';

const LONGEST = 'agent_server_event_loop_lag_max_seconds';

test('each reader of the metrics sees that the event loop was blocked, until half a minute later', async () => {
  const registry = new Registry();
  let now = 0;
  const { refresh, stop } = measureProcess({ registry } as never, { monotonic: () => now });
  const longest = async () => {
    refresh();
    return (await registry.getSingleMetric(LONGEST)?.get())?.values[0]?.value ?? Number.NaN;
  };
  // The measurement begins with the first turn of a timer: a block before it is not seen.
  await until('a delay is measured', async () => {
    const end = performance.now() + 300;
    while (performance.now() < end) Math.random();
    await nextTurn();
    return (await longest()) > 0.2;
  });

  expect(await longest()).toBeGreaterThan(0.2);
  now = 15_000;
  expect(await longest()).toBeGreaterThan(0.2);
  now = 29_000;
  expect(await longest()).toBeGreaterThan(0.2);
  now = 30_000;
  expect(await longest()).toBeLessThan(0.2);
  stop();
});

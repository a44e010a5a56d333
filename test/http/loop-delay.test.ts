import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import { measureProcess, RESOLUTION_MS } from '../../src/http/metrics/process.ts';

const LONGEST = 'agent_server_event_loop_lag_max_seconds';

/** Monitors of Node that see a delay when a test says so, ns. */
const monitors = vi.hoisted(() => [] as { max: number; reset(): void }[]);
vi.mock('node:perf_hooks', async (original) => ({
  ...(await original<typeof import('node:perf_hooks')>()),
  monitorEventLoopDelay() {
    const monitor = {
      max: 0,
      percentile: () => monitor.max,
      reset() {
        monitor.max = 0;
      },
      enable: () => {},
      disable: () => {},
    };
    monitors.push(monitor);
    return monitor;
  },
}));

test('each reader of the metrics sees that the event loop was blocked, until half a minute later', async () => {
  const registry = new Registry();
  let now = 0;
  const { refresh, stop } = measureProcess({ registry } as never, { monotonic: () => now });
  const longest = async () => {
    refresh();
    return (await registry.getSingleMetric(LONGEST)?.get())?.values[0]?.value;
  };
  expect(await longest()).toBe(0);
  for (const monitor of monitors) monitor.max = (300 + RESOLUTION_MS) * 1e6;

  const seen: unknown[] = [];
  for (now of [0, 0, 15_000, 29_000, 30_000]) seen.push(await longest());
  expect(seen).toEqual([0.3, 0.3, 0.3, 0.3, 0]);
  stop();
});

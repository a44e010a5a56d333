import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge } from 'prom-client';
import { type Meters, OURS } from './meters.ts';

/** One second, ns. */
const SECOND = 1e9;
/** Sampling interval of the event loop delay, ms; the measured delay includes it. */
const RESOLUTION_MS = 20;

/**
 * Metrics of this process, also under the names that Node.js dashboards expect. The delay of the event loop covers the
 * time since the last scrape. `stop` ends the measurement.
 */
export function measureProcess({ registry }: Meters): { refresh(): void; stop(): void } {
  const registers = [registry];
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const lag = ['p50', 'p99', 'max'].map((which) => {
    const help = `Delay of the event loop since the last scrape, ${which}.`;
    return [`nodejs_eventloop_lag_${which}_seconds`, `${OURS}event_loop_lag_${which}_seconds`].map(
      (name) => new Gauge({ name, help, registers }),
    );
  });
  const memory = new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of this process.',
    registers,
  });
  return {
    refresh() {
      const measured = [delays.percentile(50), delays.percentile(99), delays.max];
      delays.reset();
      for (const [index, gauges] of lag.entries())
        for (const gauge of gauges) gauge.set(secondsOf(measured[index] as number));
      memory.set(process.memoryUsage.rss());
    },
    stop: () => delays.disable(),
  };
}

/** Without a sample, and for less than the sampling interval, there was no delay. */
function secondsOf(nanoseconds: number): number {
  const seconds = nanoseconds / SECOND - RESOLUTION_MS / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}

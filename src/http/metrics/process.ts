import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Clock, systemClock } from '../../core/clock.ts';
import type { HostView } from '../../schemas/system.ts';
import { type Meters, OURS } from './meters.ts';
import { Gauge } from './prometheus.ts';

/** One second, ns. */
const SECOND = 1e9;
/** Sampling interval of the event loop delay, ms; the measured delay includes it. */
export const RESOLUTION_MS = 20;
/** Shortest time that a measured delay covers, ms: Prometheus usually scrapes at this interval or a longer one. */
const WINDOW_MS = 15_000;

/**
 * Metrics of this process, also under the names that Node.js dashboards expect. The delay of the event loop
 * covers the last 15 to 30 seconds, or the time since the last scrape if that is longer: no scraper resets the
 * measurement of another one. `stop` ends the measurement.
 */
export function measureProcess(
  { registry }: Meters,
  clock: Pick<Clock, 'monotonic'> = systemClock,
): { refresh(): void; stop(): void } {
  const registers = [registry];
  const delays = new LoopDelays(clock);
  const lag = ['p50', 'p99', 'max'].map((which) => {
    const help = `Delay of the event loop in the last 15 to 30 seconds, or since the last scrape if that is longer ago, ${which}.`;
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
      const delay = delays.current();
      const measured = [delay.percentile(50), delay.percentile(99), delay.max];
      for (const [index, gauges] of lag.entries())
        for (const gauge of gauges) gauge.set(secondsOf(measured[index] as number));
      memory.set(process.memoryUsage.rss());
    },
    stop: () => delays[Symbol.dispose](),
  };
}

type LoopMonitor = ReturnType<typeof monitorEventLoopDelay>;

/** Two overlapping measurements: the one that is read always covers at least the window. */
class LoopDelays implements Disposable {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #older = startedMonitor();
  #younger = startedMonitor();
  #younger_since: number;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#younger_since = clock.monotonic();
  }

  current(): LoopMonitor {
    const now = this.#clock.monotonic();
    if (now - this.#younger_since >= WINDOW_MS) {
      this.#older.reset();
      [this.#older, this.#younger] = [this.#younger, this.#older];
      this.#younger_since = now;
    }
    return this.#older;
  }

  [Symbol.dispose](): void {
    this.#older.disable();
    this.#younger.disable();
  }
}

function startedMonitor(): LoopMonitor {
  const monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  monitor.enable();
  return monitor;
}

/** Subtracts the sampling interval; 0 without samples. */
export function secondsOf(nanoseconds: number): number {
  const seconds = nanoseconds / SECOND - RESOLUTION_MS / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}

/** Metrics of the graph hosts, by number. Without hosts there are none. */
export function measureHosts(hosts: () => readonly HostView[], { registry }: Meters): void {
  const gauge = (name: string, help: string, read: (host: HostView) => number | null) =>
    new Gauge({
      name: `${OURS}host_${name}`,
      help,
      labelNames: ['host'] as const,
      registers: [registry],
      collect() {
        this.reset();
        for (const host of hosts()) this.set({ host: host.number }, read(host) ?? 0);
      },
    });
  gauge('ready', '1 if the graph host accepts work, else 0.', ({ ready }) => Number(ready));
  gauge('runs_active', 'Runs that the graph host is executing.', ({ active }) => active);
  gauge(
    'loop_blocked_seconds',
    'How long its event loop has been blocked.',
    (host) => host.blocked_ms / 1000,
  );
  gauge('resident_memory_bytes', 'Resident memory of the graph host.', ({ memory_bytes }) => memory_bytes);
  gauge('restarts', 'Number of restarts of the graph host.', ({ restarts }) => restarts);
}

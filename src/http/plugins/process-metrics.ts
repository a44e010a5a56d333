import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { EndedRun, HostView } from '../../schemas/system.ts';

/** Upper bounds of the run duration histogram, seconds. */
const BUCKETS_S = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600];

/** Counts ended runs by status and records their duration: the basis of an alert on failing runs. */
export function countRuns(
  onRunEnded: (listener: (run: EndedRun) => void) => void,
  registers: Registry[],
): void {
  const ended = new Counter({
    name: 'lg_api_runs_ended_total',
    help: 'Runs that ended in this process.',
    labelNames: ['graph', 'status'] as const,
    registers,
  });
  const duration = new Histogram({
    name: 'lg_api_run_duration_seconds',
    help: 'Execution time of the last attempt of a run.',
    labelNames: ['graph'] as const,
    buckets: BUCKETS_S,
    registers,
  });
  const waited = new Histogram({
    name: 'lg_api_run_queue_seconds',
    help: 'Time that a run waited for its first attempt.',
    buckets: BUCKETS_S,
    registers,
  });
  onRunEnded(({ graph_id: graph, status, ms, queue_ms }) => {
    ended.inc({ graph, status });
    if (ms !== undefined) duration.observe({ graph }, ms / 1000);
    if (queue_ms !== undefined) waited.observe(queue_ms / 1000);
  });
}

/** One second, ns. */
const SECOND = 1e9;
/** Sampling interval of the event loop delay, ms; the measured delay includes it. */
const RESOLUTION_MS = 20;

/** Process metrics under the names that Node.js dashboards expect. Lag covers the time since the last scrape. */
export function measureProcess(registers: Registry[]): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const lag = (name: string, what: string, read: () => number) =>
    new Gauge({
      name: `nodejs_eventloop_lag_${name}_seconds`,
      help: `Delay of the event loop since the last scrape, ${what}.`,
      registers,
      collect() {
        const nanoseconds = read();
        const seconds = nanoseconds / SECOND - RESOLUTION_MS / 1000;
        this.set(Number.isFinite(seconds) ? Math.max(0, seconds) : 0);
      },
    });
  lag('p50', 'median', () => delays.percentile(50));
  lag('p99', '99th percentile', () => delays.percentile(99));
  lag('max', 'maximum', () => {
    const most = delays.max;
    delays.reset();
    return most;
  });
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of this process.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  return () => delays.disable();
}

/** Metrics of the graph hosts, by number. Without hosts there are none. */
export function measureHosts(hosts: () => readonly HostView[], registers: Registry[]): void {
  const labelNames = ['host'] as const;
  const gauge = (name: string, help: string, read: (host: HostView) => number | null) =>
    new Gauge({
      name: `lg_api_host_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const host of hosts()) this.set({ host: host.number }, read(host) ?? 0);
      },
    });
  gauge('ready', '1 if the graph host takes work, 0 if not.', ({ ready }) => Number(ready));
  gauge('runs_active', 'Runs that the graph host executes.', ({ active }) => active);
  gauge(
    'loop_blocked_seconds',
    'How long its event loop has been blocked.',
    (host) => host.blocked_ms / 1000,
  );
  gauge('resident_memory_bytes', 'Resident memory of the graph host.', ({ memory_bytes }) => memory_bytes);
  gauge('restarts', 'How often the process was started again.', ({ restarts }) => restarts);
}

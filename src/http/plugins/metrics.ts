import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type {
  CronStats,
  EndedRun,
  HostView,
  QueueStats,
  RequestCount,
  WebhookStats,
  WorkerStats,
} from '../../schemas/system.ts';
import { countRuns, measureHosts, measureProcess } from './process-metrics.ts';

/** Engine statistics, read at scrape time. */
export interface EngineStats {
  queue(): Promise<QueueStats>;
  workers(): WorkerStats;
  webhooks(): Promise<WebhookStats>;
  crons(): Promise<CronStats>;
  /** The processes that execute graphs; empty if it is this one. */
  hosts(): readonly HostView[];
  onRunEnded(listener: (run: EndedRun) => void): void;
}

export type HttpMetrics = ReturnType<typeof httpMetrics>;

/** Upper bounds of the latency histogram, ms (CONTRACT §15). */
const BUCKETS_MS = [
  1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000, 3_600_000,
];
const LABELS = ['method', 'path', 'status'] as const;

/** Metrics of requests by route, and of the engine at scrape time; names as in CONTRACT §15. */
export function httpMetrics(engine: EngineStats) {
  // One registry per server, so that two servers in one process do not share counters.
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'lg_api_http_requests_total',
    help: 'HTTP requests.',
    labelNames: LABELS,
    registers,
  });
  const latency = new Histogram({
    name: 'lg_api_http_requests_latency',
    help: 'Time until the response ended, ms; for a stream, its whole duration.',
    labelNames: LABELS,
    buckets: BUCKETS_MS,
    registers,
  });
  const gauges = engineGauges(registers);
  const webhookTries = new Counter({
    name: 'lg_api_webhook_tries_total',
    help: 'Webhook delivery attempts of this process, by outcome.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const disconnects = new Counter({
    name: 'lg_api_http_clients_left_total',
    help: 'Responses whose client disconnected before the end.',
    labelNames: ['method', 'path'] as const,
    registers,
  });
  countRuns(engine.onRunEnded, registers);
  measureHosts(engine.hosts, registers);
  const stop = measureProcess(registers);

  return {
    /** Call on server close. */
    stop,

    disconnected: (method: string, path: string): void => disconnects.inc({ method, path }),

    observe({
      method,
      path,
      status,
      ms,
    }: {
      method: string;
      path: string;
      status: number;
      ms: number;
    }): void {
      const labels = { method, path, status };
      requests.inc(labels);
      latency.observe(labels, ms);
    },

    /** Prometheus text format. */
    async text(): Promise<string> {
      const { delivered, failed, ...webhooks } = await engine.webhooks();
      webhookTries.reset();
      webhookTries.inc({ outcome: 'delivered' }, delivered);
      webhookTries.inc({ outcome: 'failed' }, failed);
      const runs = { ...engine.workers(), ...(await engine.queue()) };
      const stats = { ...runs, ...(await engine.crons()), ...webhooks };
      for (const [name, gauge] of Object.entries(gauges)) gauge.set(stats[name as keyof typeof gauges]);
      return registry.metrics();
    },

    async requestCounts(): Promise<RequestCount[]> {
      const { values } = await requests.get();
      return values.map(({ labels, value }) => ({
        method: String(labels.method),
        path: String(labels.path),
        status: Number(labels.status),
        count: value,
      }));
    },
  };
}

/** Gauges of the engine, keyed as in `EngineStats`. */
function engineGauges(registers: Registry[]) {
  const gauge = (name: string, help: string) => new Gauge({ name: `lg_api_${name}`, help, registers });
  return {
    max: gauge('workers_max', 'Runs that this process may execute concurrently.'),
    active: gauge('workers_active', 'Runs that this process executes.'),
    available: gauge('workers_available', 'Further runs that this process could execute.'),
    n_pending: gauge('num_pending_runs', 'Pending runs.'),
    n_running: gauge('num_running_runs', 'Running runs.'),
    n_crons: gauge('num_crons', 'Enabled crons.'),
    n_overdue_crons: gauge('num_overdue_crons', 'Crons that are due and whose run is not created yet.'),
    pending: gauge('webhooks_pending', 'Webhook deliveries that are pending, retries included.'),
    dead: gauge('webhooks_dead', 'Webhook deliveries that are dead.'),
  };
}

import type { RequestCount } from '../../schemas/system.ts';
import { methodLabel } from './labels.ts';
import { BUCKETS_MS, type Meters, OURS } from './meters.ts';
import { Counter, Histogram } from './prometheus.ts';

const LABELS = ['method', 'path', 'status'] as const;

/** A request that was answered. */
export interface FinishedRequest {
  readonly method: string;
  /** Template of its route, or `unknown`: never a path that a client chose. */
  readonly path: string;
  readonly status: number;
  readonly ms: number;
}

/** Metrics of requests, by route. */
export function requestMetrics({ registry, prefix }: Meters) {
  const registers = [registry];
  const requests = new Counter({
    name: `${prefix}http_requests_total`,
    help: 'HTTP requests.',
    labelNames: LABELS,
    registers,
  });
  const latency = new Histogram({
    name: `${prefix}http_requests_latency`,
    help: 'Time until the response ended, ms; for a stream, its whole duration.',
    labelNames: LABELS,
    buckets: BUCKETS_MS,
    registers,
  });
  const disconnects = new Counter({
    name: `${OURS}http_clients_left_total`,
    help: 'Responses whose client disconnected before the end.',
    labelNames: ['method', 'path'] as const,
    registers,
  });
  return {
    disconnected: (method: string, path: string): void =>
      disconnects.inc({ method: methodLabel(method), path }),

    observe({ method, path, status, ms }: FinishedRequest): void {
      const labels = { method: methodLabel(method), path, status };
      requests.inc(labels);
      latency.observe(labels, ms);
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

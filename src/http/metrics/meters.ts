import type { HistogramName, Meter } from '../../core/meter.ts';
import { Histogram, Registry } from './prometheus.ts';

export interface MetricOptions {
  /** Prefix of the official server's metrics: `lg_api_` by default (`METRIC_PREFIX`). */
  readonly prefix: string;
}

/** Where the metrics of one server are registered. */
export interface Meters extends MetricOptions {
  readonly registry: Registry;
  readonly meter: Meter;
}

/**
 * Upper bounds of the official latency histograms, ms, with finer ones for fast requests. A server answers most requests
 * within 25 ms, where the official bounds have one bucket.
 */
export const BUCKETS_MS = [
  1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 1_800_000, 3_600_000,
];
/** From writing an event to its commit, seconds. */
const BUCKETS_OF_LAG = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

/** Prefix of the metrics that the official server does not have. */
export const OURS = 'agent_server_';

/** Opens a registry, one for each server: two servers in one process share no metrics. */
export function openMeters({ prefix }: MetricOptions): Meters {
  const registry = new Registry();
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, buckets, registers: [registry] });
  const histograms: Record<HistogramName, Histogram> = {
    run_queue_wait_time_1st_attempt: histogram(
      `${prefix}run_queue_wait_time_1st_attempt`,
      'Time that a run waited for its first attempt, ms.',
      BUCKETS_MS,
    ),
    log_lag_seconds: histogram(
      `${OURS}log_lag_seconds`,
      'Time from an event of a run to its commit in the log; measured for the oldest event of a batch.',
      BUCKETS_OF_LAG,
    ),
  };
  return { prefix, registry, meter: { observe: (name, value) => histograms[name].observe(value) } };
}

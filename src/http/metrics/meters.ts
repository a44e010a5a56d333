import type { CounterName, HistogramName, Meter } from '../../core/meter.ts';
import { Counter, Histogram, Registry } from './prometheus.ts';

export interface MetricOptions {
  /** Prefix of the official server's metrics: `lg_api_` by default (`METRIC_PREFIX`). */
  readonly prefix: string;
  /** Whether to expose the official server's internal metrics too (`EXPOSE_INTERNAL_METRICS_PROMETHEUS`). */
  readonly internal: boolean;
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
const BUCKETS_OF_EVENTS = [0, 1, 10, 100, 1000, 10_000, 100_000];

/**
 * Counters of the official server's internal set, which appear on request: `<prefix><name>_counter` as in its
 * documentation, and with `_total` as its exporter writes them.
 */
const INTERNAL_COUNTERS: Record<CounterName, string> = {
  run_attempt_started: 'Run attempts started in this process.',
  run_success: 'Runs that succeeded, including interrupted ones.',
  run_canceled_by_request: 'Runs that were cancelled, or superseded by a newer run of their thread.',
  run_failed_retriable: 'Failed attempts whose run is retried.',
  run_failed_after_retry: 'Runs that failed for good or timed out.',
  run_exceed_max_attempts_at_start: 'Runs that failed because their workers were lost too often.',
  run_abandoned_by_shutdown: 'Runs that a shutdown returned to the queue.',
  run_set_status_error: 'Failed attempts to store the end of a run; they are retried.',
  failed_to_fetch_runs: 'Failed attempts to claim runs from the queue.',
  graph_recursion_limit_error: 'Runs that reached their recursion limit.',
  streaming_data_loss: 'Gaps in streams: events lost to a database failure.',
  protocol_v2_event_emitted: 'Events sent to clients of event streaming.',
  protocol_v2_resume_gap: 'Gaps in the events that a resuming client of event streaming received.',
  protocol_v2_transport_send_failure: 'Events and answers that could not be written to a WebSocket.',
};

interface HistogramSpec {
  readonly help: string;
  readonly buckets: number[];
  /** Belongs to the official server's internal set. */
  readonly is_internal?: true;
  /** Has the prefix `agent_server_`, whatever the configured one. */
  readonly is_ours?: true;
}

const HISTOGRAMS: Record<HistogramName, HistogramSpec> = {
  run_queue_wait_time_1st_attempt: {
    help: 'Time that a run waited for its first attempt, ms.',
    buckets: BUCKETS_MS,
  },
  run_queue_wait_time_retry_attempt: {
    help: 'Time that a run waited for a retry after it was due, ms.',
    buckets: BUCKETS_MS,
    is_internal: true,
  },
  run_execution_latency: {
    help: 'Execution time of the last attempt of a run, ms.',
    buckets: BUCKETS_MS,
    is_internal: true,
  },
  stream_publish_latency: {
    help: 'Time until the events of a run were published to its followers, ms; resumable ones wait for their commit.',
    buckets: BUCKETS_MS,
    is_internal: true,
  },
  protocol_v2_replayed_events: {
    help: 'Past events replayed to a subscription of event streaming.',
    buckets: BUCKETS_OF_EVENTS,
    is_internal: true,
  },
  log_lag_seconds: {
    help: 'Time from an event of a run to its commit in the log; measured for the oldest event of a batch.',
    buckets: BUCKETS_OF_LAG,
    is_ours: true,
  },
};

/** Prefix of the metrics that the official server does not have. */
export const OURS = 'agent_server_';

/** Opens a registry, one for each server: two servers in one process share no counters. */
export function openMeters({ prefix, internal }: MetricOptions): Meters {
  const registry = new Registry();
  const registers = [registry];
  const counters = new Map<string, Counter[]>();
  for (const [name, help] of Object.entries(internal ? INTERNAL_COUNTERS : {})) {
    const names = [`${prefix}${name}_counter`, `${prefix}${name}_counter_total`];
    counters.set(
      name,
      names.map((each) => new Counter({ name: each, help, registers })),
    );
  }
  const histograms = new Map<string, Histogram>();
  for (const [name, { help, buckets, is_internal, is_ours }] of Object.entries(HISTOGRAMS)) {
    if (is_internal && !internal) continue;
    const full = `${is_ours ? OURS : prefix}${name}`;
    histograms.set(name, new Histogram({ name: full, help, buckets, registers }));
  }
  return {
    prefix,
    internal,
    registry,
    meter: {
      count(name, times = 1) {
        for (const counter of counters.get(name) ?? []) counter.inc(times);
      },
      observe: (name, value) => histograms.get(name)?.observe(value),
    },
  };
}

/**
 * Events that are counted where they happen. Those of the official server have the names of its counters, without prefix
 * and suffix.
 */
export type CounterName =
  | 'run_attempt_started'
  | 'run_success'
  | 'run_canceled_by_request'
  | 'run_failed_retriable'
  | 'run_failed_after_retry'
  | 'run_exceed_max_attempts_at_start'
  | 'run_abandoned_by_shutdown'
  | 'run_set_status_error'
  | 'failed_to_fetch_runs'
  | 'graph_recursion_limit_error'
  | 'streaming_data_loss'
  | 'protocol_v2_event_emitted'
  | 'protocol_v2_resume_gap'
  | 'protocol_v2_transport_send_failure';

/** Durations and amounts whose distribution is recorded; the unit is that of the metric of the same name. */
export type HistogramName =
  | 'run_queue_wait_time_1st_attempt'
  | 'run_queue_wait_time_retry_attempt'
  | 'run_execution_latency'
  | 'stream_publish_latency'
  | 'protocol_v2_replayed_events'
  | 'log_lag_seconds';

/** Counts and measures what happens in this process, for `/metrics`. Never throws. */
export interface Meter {
  /** Adds `times`, 1 by default. */
  count(name: CounterName, times?: number): void;
  /** Records one value. */
  observe(name: HistogramName, value: number): void;
}

/** Durations measured where they happen; the unit is that of the metric of the same name. */
export type HistogramName = 'run_queue_wait_time_1st_attempt' | 'log_lag_seconds';

/** Measures what happens in this process, for `/metrics`. Never throws. */
export interface Meter {
  observe(name: HistogramName, value: number): void;
}

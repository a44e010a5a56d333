export type Unit = 'ms' | 's' | 'runs/s' | 'events/s' | 'requests/s' | '×' | 'MB' | '';

/** One measured number. */
export interface Measurement {
  readonly what: string;
  readonly value: number;
  readonly unit: Unit;
  /** What we want it to be at most. A measurement above it is a fact to print, never a failure: clocks of machines differ. */
  readonly aim?: number;
}

/** One question and the measurements that answer it. */
export interface Scenario {
  readonly title: string;
  run(): Promise<Measurement[]>;
}

export interface Result {
  readonly scenario: string;
  readonly title: string;
  readonly measurements: readonly Measurement[];
}

/** The value below which `share` of the samples lie (0.5, 0.95, 0.99). */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** p50, p95 and p99 of latencies in ms; the aim is about p50. */
export function percentiles(what: string, samples_ms: readonly number[], aim?: number): Measurement[] {
  const at = (name: string, share: number): Measurement => ({
    what: `${what} ${name}`,
    value: percentile(samples_ms, share),
    unit: 'ms',
  });
  return [{ ...at('p50', 0.5), ...(aim === undefined ? {} : { aim }) }, at('p95', 0.95), at('p99', 0.99)];
}

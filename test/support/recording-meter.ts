import type { CounterName, HistogramName, Meter } from '../../src/core/meter.ts';

/** A meter that remembers what was counted and measured. */
export function recordingMeter() {
  const counts: Partial<Record<CounterName, number>> = {};
  const observed: Partial<Record<HistogramName, number[]>> = {};
  const meter: Meter = {
    count(name, times = 1) {
      counts[name] = (counts[name] ?? 0) + times;
    },
    observe(name, value) {
      observed[name] = [...(observed[name] ?? []), value];
    },
  };
  return { meter, counts, observed };
}

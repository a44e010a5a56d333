import type { HistogramName, Meter } from '../../src/core/meter.ts';

/** A meter that remembers what was measured. */
export function recordingMeter() {
  const observed: Partial<Record<HistogramName, number[]>> = {};
  const meter: Meter = {
    observe(name, value) {
      observed[name] = [...(observed[name] ?? []), value];
    },
  };
  return { meter, observed };
}

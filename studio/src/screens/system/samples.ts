import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, dataOf } from '../../api/client.ts';

/** Readings of the metrics, by name; those with labels begin at `name{`. */
export type Readings = ReadonlyMap<string, number>;

export interface Sample {
  /** Epoch ms. */
  readonly at: number;
  readonly readings: Readings;
}

/** Between two readings, ms. */
const INTERVAL = 5_000;
/** An hour of readings. */
const MAX_SAMPLES = 720;

/** Readings of the text that Prometheus reads. */
function readingsOf(text: string): Readings {
  const readings = new Map<string, number>();
  for (const line of text.split('\n')) {
    // A label may have spaces; a value has none.
    const end = line.lastIndexOf(' ');
    if (end > 0 && !line.startsWith('#')) readings.set(line.slice(0, end), Number(line.slice(end + 1)));
  }
  return readings;
}

/** What the process that answers has measured since the page was opened, the oldest first; an hour at the most. */
export function useSamples() {
  const { data, error, refetch } = useQuery({
    queryKey: ['metrics'],
    queryFn: async () => {
      const text = await dataOf(api.GET('/metrics', { parseAs: 'text' }));
      return { at: Date.now(), readings: readingsOf(String(text)) };
    },
    refetchInterval: INTERVAL,
  });
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useEffect(() => {
    if (data) setSamples((before) => [...before, data].slice(-MAX_SAMPLES));
  }, [data]);
  return { samples, error, refetch };
}

/** The sum of a metric over its labels that contain `having`; undefined if it is not measured. */
export function total(readings: Readings, metric: string, having = ''): number | undefined {
  const values = [...readings].filter(
    ([name]) => name === metric || (name.startsWith(`${metric}{`) && name.includes(having)),
  );
  return values.length === 0 ? undefined : values.reduce((sum, [, value]) => sum + value, 0);
}

/** By how much the sum of a counter grew each second between neighbouring samples; a restart is no growth. */
export function rates(samples: readonly Sample[], metric: string): number[] {
  return samples.slice(1).map(({ at, readings }, i) => {
    const before = samples[i] as Sample;
    const growth = (total(readings, metric) ?? 0) - (total(before.readings, metric) ?? 0);
    return Math.max(0, growth) / Math.max(0.001, (at - before.at) / 1000);
  });
}

/** Values of a label, over all readings of a metric. */
export function labels(readings: Readings, metric: string, label: string): string[] {
  const names = [...readings.keys()].filter((name) => name.startsWith(`${metric}{`));
  return names.flatMap((name) => name.split(`${label}="`)[1]?.split('"')[0] ?? []);
}

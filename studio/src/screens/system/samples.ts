import { useQuery, useQueryClient } from '@tanstack/react-query';
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
/** How long readings are remembered, also while another screen is open, ms. */
const HISTORY_MS = 60 * 60 * 1000;
/** Readings further apart are not joined by a line, ms: nobody looked in between. */
export const GAP_MS = 4 * INTERVAL;

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

/**
 * What the process that answers has measured while this screen was open in the last hour, the oldest first. The session's
 * end forgets it, as everything else that was read.
 */
export function useSamples() {
  const client = useQueryClient();
  const queryKey = ['metrics'];
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: async () => {
      const text = await dataOf(api.GET('/metrics', { parseAs: 'text' }));
      const now = Date.now();
      const before = client.getQueryData<readonly Sample[]>(queryKey) ?? [];
      const recent = before.filter(({ at }) => at > now - HISTORY_MS);
      return [...recent, { at: now, readings: readingsOf(String(text)) }];
    },
    refetchInterval: INTERVAL,
    gcTime: HISTORY_MS,
    structuralSharing: false,
  });
  return { samples: data ?? [], error, refetch };
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

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { type Readings, readingsOf, total } from './readings.ts';

/** A sample of one process. `null` if unknown. */
export interface Sample {
  /** Epoch ms. */
  readonly at: number;
  readonly running: number | null;
  readonly pending: number | null;
  /** Counter since the start of the process, as are failed runs and requests. */
  readonly ended: number;
  readonly failed: number;
  readonly requests: number;
  /** Seconds. */
  readonly lag_p99: number;
  readonly lag_max: number;
  readonly memory_bytes: number;
  readonly webhooks_pending: number | null;
  readonly webhooks_dead: number | null;
  readonly connections_open: number;
  readonly connections_waiting: number;
}

/** Sampling interval, ms. */
export const INTERVAL_MS = 5_000;
/** Retention of samples, also while another screen is open, ms. */
export const HISTORY_MS = 60 * 60 * 1000;
/** Samples further apart are not connected by a line, ms. */
export const GAP_MS = 30_000;

/**
 * Samples of the process that answers, oldest first, from the last hour as far as the screen was open, and its latest
 * readings. Cleared when the session ends, like all loaded data.
 */
export function useSamples() {
  const client = useQueryClient();
  const queryKey = ['metrics'];
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: async () => {
      const text = await dataOf(api.GET('/metrics', { parseAs: 'text' }));
      const now = Date.now();
      const before = client.getQueryData<{ samples: readonly Sample[] }>(queryKey)?.samples ?? [];
      const recent = before.filter(({ at }) => at > now - HISTORY_MS);
      const readings = readingsOf(String(text));
      return { samples: [...recent, sampleOf(readings, now)], readings };
    },
    refetchInterval: INTERVAL_MS,
    gcTime: HISTORY_MS,
    structuralSharing: false,
  });
  return { samples: data?.samples ?? [], readings: data?.readings, error, refetch };
}

function sampleOf(readings: Readings, at: number): Sample {
  const of = (metric: string, having?: string) => total(readings, metric, having) ?? 0;
  const ended = 'agent_server_runs_ended_total';
  return {
    at,
    running: of('lg_api_num_running_runs'),
    pending: of('lg_api_num_pending_runs'),
    ended: of(ended),
    failed: of(ended, 'status="error"') + of(ended, 'status="timeout"'),
    requests: of('lg_api_http_requests_total'),
    lag_p99: of('agent_server_event_loop_lag_p99_seconds'),
    lag_max: of('agent_server_event_loop_lag_max_seconds'),
    memory_bytes: of('process_resident_memory_bytes'),
    webhooks_pending: of('agent_server_webhooks_pending'),
    webhooks_dead: of('agent_server_webhooks_dead'),
    connections_open: of('lg_api_pg_pool_size'),
    connections_waiting: of('agent_server_pg_pool_waiting'),
  };
}

/** Growth of a counter per second between neighbouring samples. A restart is not growth. */
export function rates(samples: readonly Sample[], of: 'ended' | 'failed' | 'requests'): number[] {
  return samples.slice(1).map((sample, i) => {
    const before = samples[i] as Sample;
    return Math.max(0, sample[of] - before[of]) / Math.max(0.001, (sample.at - before.at) / 1000);
  });
}

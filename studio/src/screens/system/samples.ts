import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { type Readings, readingsOf, total } from './readings.ts';

/** What a process measured at one time. `null`: it is not known. */
export interface Sample {
  /** Epoch ms. */
  readonly at: number;
  readonly running: number | null;
  readonly pending: number | null;
  /** From the start of the process, as are failed runs and requests. */
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

/** Between two readings, ms. */
export const INTERVAL_MS = 5_000;
/** How long readings are remembered, also while another screen is open, ms. */
export const HISTORY_MS = 60 * 60 * 1000;
/** Readings further apart are not joined by a line, ms: nothing was measured in between. */
export const GAP_MS = 30_000;

/**
 * What the process that answers has measured while this screen was open in the last hour, the oldest first, and its last
 * readings. The session's end forgets it, as everything else that was read.
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

/** By how much a counter grew each second between neighbouring samples; a restart is no growth. */
export function rates(samples: readonly Sample[], of: 'ended' | 'failed' | 'requests'): number[] {
  return samples.slice(1).map((sample, i) => {
    const before = samples[i] as Sample;
    return Math.max(0, sample[of] - before[of]) / Math.max(0.001, (sample.at - before.at) / 1000);
  });
}

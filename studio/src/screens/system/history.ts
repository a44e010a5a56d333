import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { HISTORY_MS, INTERVAL_MS, type Sample } from './samples.ts';

type History = Schemas['SystemHistory'];

/** A process that has not answered for this long is no longer shown, ms. */
const MAX_SILENCE_MS = 60_000;

/** The last hour of one process, from its memory. `isWanted` if the caller may read it. */
export function useHistory(isWanted: boolean) {
  const client = useQueryClient();
  const queryKey = ['system', 'history'];
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: async () => {
      const next = await dataOf(api.GET('/system/history'));
      return ofOneProcess(client.getQueryData<History>(queryKey), next);
    },
    enabled: isWanted,
    refetchInterval: INTERVAL_MS,
    gcTime: HISTORY_MS,
    structuralSharing: false,
  });
  return { history: data, error, refetch };
}

/** Several processes may answer in turn. Keeps showing the same one, unless it is silent or was replaced. */
function ofOneProcess(before: History | undefined, next: History): History {
  if (before === undefined || before.process.worker_id === next.process.worker_id) return next;
  const seen_at = lastTimeOf(before);
  const isGone = Date.parse(next.since) > seen_at || lastTimeOf(next) - seen_at > MAX_SILENCE_MS;
  return isGone ? next : before;
}

function lastTimeOf({ at }: History): number {
  return Date.parse(at.at(-1) ?? '');
}

/** Samples, oldest first. */
export function samplesOf({ runs, webhooks, connections, ...history }: History): Sample[] {
  const { event_loop_lag_seconds: lag, requests_total, memory_bytes } = history;
  const value = (list: readonly number[], i: number) => list[i] as number;
  return history.at.map((at, i) => ({
    at: Date.parse(at),
    running: runs.running[i] ?? null,
    pending: runs.pending[i] ?? null,
    ended: value(runs.ended_total, i),
    failed: value(runs.failed_total, i),
    requests: value(requests_total, i),
    lag_p99: value(lag.p99, i),
    lag_max: value(lag.max, i),
    memory_bytes: value(memory_bytes, i),
    webhooks_pending: webhooks.pending[i] ?? null,
    webhooks_dead: webhooks.dead[i] ?? null,
    connections_open: value(connections.open, i),
    connections_waiting: value(connections.waiting, i),
  }));
}

import { queryOptions } from '@tanstack/react-query';
import { type Readings, readingsOf, total } from '../system/samples.ts';

/** Between two checks of what is in sight, ms. Each is a line in the log of the deployment. */
const CHECK_MS = 60_000;
/** The same while its processes have not said yet what they use. */
const STARTING_MS = 2_000;

export interface Health {
  readonly isHealthy: boolean;
  /** Why it is not. */
  readonly detail: string;
  /** Until it answered, ms. */
  readonly took_ms: number;
  /** Epoch ms. */
  readonly at: number;
}

/** Whether a deployment answers and reaches its database. Never fails: that it does not answer is an answer. */
export const healthQuery = (url: string) =>
  queryOptions({
    queryKey: ['deployment', url, 'health'],
    queryFn: async (): Promise<Health> => {
      const from = performance.now();
      const response = await fetch(`${url}/ok?check_db=1`).catch(() => undefined);
      const said = response?.ok === false ? `It answers with ${response.status}.` : '';
      return {
        isHealthy: response?.ok === true,
        detail: response ? said : 'It does not answer.',
        took_ms: performance.now() - from,
        at: Date.now(),
      };
    },
    refetchInterval: CHECK_MS,
    enabled: isHere(url),
  });

/** Pages that a deployment may have; its project can leave them out. */
export const pagesQuery = (url: string, revision_id: string | undefined) =>
  queryOptions({
    queryKey: ['deployment', url, 'pages', revision_id],
    queryFn: async () => ({
      hasDocs: await isThere(`${url}/docs`),
      hasStudio: await isThere(`${url}/studio`),
    }),
    enabled: revision_id !== undefined && isHere(url),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** What its processes use, if this browser may ask: with authentication a deployment has keys of its own. */
export const usageQuery = (url: string, revision_id: string | undefined) =>
  queryOptions({
    queryKey: ['deployment', url, 'usage', revision_id],
    queryFn: async (): Promise<Usage | null> => {
      const response = await fetch(`${url}/metrics`).catch(() => undefined);
      return response?.ok === true ? usageOf(readingsOf(await response.text())) : null;
    },
    refetchInterval: ({ state: { data } }) => {
      if (data === null) return false;
      return data?.memory_bytes === 0 ? STARTING_MS : CHECK_MS;
    },
    enabled: revision_id !== undefined && isHere(url),
  });

/** Of the processes that execute the graphs of a deployment. */
export interface Usage {
  /** Those that take work. */
  readonly hosts: number;
  readonly memory_bytes: number;
  /** Runs that they execute. */
  readonly runs: number;
}

function usageOf(readings: Readings): Usage {
  return {
    hosts: total(readings, 'agent_server_host_ready') ?? 0,
    memory_bytes: total(readings, 'agent_server_host_resident_memory_bytes') ?? 0,
    runs: total(readings, 'agent_server_host_runs_active') ?? 0,
  };
}

async function isThere(url: string): Promise<boolean> {
  const response = await fetch(url, { method: 'HEAD' }).catch(() => undefined);
  return response?.ok === true;
}

/** The policy for content lets the page ask its own server only. */
function isHere(url: string): boolean {
  return URL.parse(url)?.origin === location.origin;
}

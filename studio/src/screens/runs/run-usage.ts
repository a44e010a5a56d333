import { queryOptions, useQueries } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';

/** Runs of one request. */
const CHUNK = 100;

export type RunUsage = Schemas['RunUsageReport']['runs'][number];

/** Loaded apart from the list, which does not wait for it. */
const usageQuery = (run_ids: readonly string[]) =>
  queryOptions({
    queryKey: ['run', run_ids, 'usage'],
    queryFn: async () => {
      const { runs } = await dataOf(api.POST('/usage/runs', { body: { run_ids: [...run_ids] } }));
      return runs.map((usage) => [usage.run_id, usage] as const);
    },
    // Runs keep theirs while another page of the list is loaded.
    placeholderData: (before) => before,
  });

/** What these runs used of models, by id. Those that used nothing are left out. */
export function useRunUsage(runs: readonly Schemas['RunSummary'][]): ReadonlyMap<string, RunUsage> {
  const ids = runs.flatMap(({ run_id }) => run_id ?? []);
  const chunks = Array.from({ length: Math.ceil(ids.length / CHUNK) }, (_, n) =>
    ids.slice(n * CHUNK, (n + 1) * CHUNK),
  );
  const isCounted = useSession().extensions.includes('usage');
  const answers = useQueries({ queries: isCounted ? chunks.map(usageQuery) : [] });
  return new Map(answers.flatMap(({ data = [] }) => data));
}

export const tokensOf = ({ tokens_in, tokens_out }: Pick<RunUsage, 'tokens_in' | 'tokens_out'>): number =>
  tokens_in + tokens_out;

/** Whether any call has a known cost. */
export const isPriced = ({ calls, unpriced_calls }: Pick<RunUsage, 'calls' | 'unpriced_calls'>): boolean =>
  unpriced_calls < calls;

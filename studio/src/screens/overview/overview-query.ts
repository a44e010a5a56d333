import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, pageOf } from '../../api/client.ts';

/** State of the whole server. Needs an unrestricted caller. */
export const overviewQuery = queryOptions({
  queryKey: ['system', 'overview'],
  queryFn: () => dataOf(api.GET('/system/overview')),
});

const DAY_MS = 86_400_000;
const DAYS = 15;

/** Tokens of all model calls by day, in UTC, today last. */
export const tokensQuery = queryOptions({
  queryKey: ['system', 'tokens'],
  queryFn: async () => {
    const days = Array.from({ length: DAYS }, (_, n) =>
      new Date(Date.now() - (DAYS - 1 - n) * DAY_MS).toISOString().slice(0, 10),
    );
    const query = { by: ['day' as const], from: days[0] as string };
    const { groups } = await dataOf(api.GET('/usage', { params: { query } }));
    const byDay = new Map(groups.map(({ day, tokens_in, tokens_out }) => [day, tokens_in + tokens_out]));
    return days.map((day) => ({ day, tokens: byDay.get(day) ?? 0 }));
  },
  staleTime: 10_000,
});

const LAST_RUNS = 10;
const WAITING = 5;

export const lastRunsQuery = queryOptions({
  queryKey: ['run', 'list', { last: LAST_RUNS }],
  queryFn: () => dataOf(api.POST('/runs/search', { body: { limit: LAST_RUNS, with_removed: true } })),
});

/** Questions that have been open for longest. */
export const openQuestionsQuery = queryOptions({
  queryKey: ['thread', 'list', { waiting: WAITING }],
  queryFn: () => pageOf(api.POST('/interrupts/search', { body: { limit: WAITING, sort_order: 'asc' } })),
});

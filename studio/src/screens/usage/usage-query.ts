import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';

export type UsageGroup = Schemas['UsageReport']['groups'][number];
export type Budget = Schemas['BudgetReport']['budgets'][number];

/** What usage is grouped by, as tabs. */
export const GROUPINGS = ['day', 'assistant', 'model', 'user', 'key'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Filters of the report, as in the address. */
export interface UsageFilters {
  readonly days?: string;
  readonly assistant?: string;
  readonly model?: string;
  readonly user?: string;
  readonly key?: string;
}

const PAGE = 100;
const DAY_MS = 86_400_000;
export const PERIODS = ['7', '30', '90'] as const;
const USUAL_PERIOD = '30';

/** An address may contain anything. */
export const periodOf = ({ days }: UsageFilters): string =>
  PERIODS.find((each) => each === days) ?? USUAL_PERIOD;

/** Usage without a user, a key or a model has an empty one, which an address cannot hold. */
export const NONE = '-';
const emptied = (text: string) => (text === NONE ? '' : text);

/** Days of the period in UTC, today last. */
export function daysOf(filters: UsageFilters): string[] {
  const days = Number(periodOf(filters));
  return Array.from({ length: days }, (_, n) =>
    new Date(Date.now() - (days - 1 - n) * DAY_MS).toISOString().slice(0, 10),
  );
}

function queryOf(filters: UsageFilters) {
  const { assistant, model, user, key } = filters;
  return {
    from: daysOf(filters)[0] as string,
    ...(assistant && { assistant_id: assistant }),
    ...(model && { model: emptied(model) }),
    ...(user && { user: emptied(user) }),
    ...(key && { key: emptied(key) }),
  };
}

/** Sums over many rows: not at each change. */
const REFETCH_MS = 10_000;

/** One sum for each of the groups. */
export const usageQuery = (filters: UsageFilters, by: Grouping) =>
  infiniteQueryOptions({
    queryKey: ['usage', { ...filters }, by],
    refetchInterval: REFETCH_MS,
    queryFn: async ({ pageParam }) => {
      const query = { ...queryOf(filters), by: [by], limit: PAGE, offset: pageParam };
      const { groups, next } = await dataOf(api.GET('/usage', { params: { query } }));
      // The newest day first.
      return { data: by === 'day' ? groups.toReversed() : groups, next };
    },
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next ?? undefined,
  });

/** The sum of all. */
export const totalQuery = (filters: UsageFilters) =>
  queryOptions({
    queryKey: ['usage', { ...filters }, 'total'],
    refetchInterval: REFETCH_MS,
    queryFn: async () => {
      const { groups } = await dataOf(api.GET('/usage', { params: { query: queryOf(filters) } }));
      return groups[0];
    },
  });

export const budgetsQuery = queryOptions({
  queryKey: ['usage', 'budgets'],
  refetchInterval: REFETCH_MS,
  queryFn: () => dataOf(api.GET('/usage/budgets')),
});

import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, pageOf, type Schemas } from '../../api/client.ts';

export type Cron = Schemas['Cron'];

/** Filters of the list, as they are in the address. */
export interface CronFilters {
  readonly assistant?: string;
  /** `yes` or `no`. */
  readonly enabled?: string;
}

const PAGE = 50;

/** Crons, those that fire next first. */
export function cronsQuery({ assistant, enabled }: CronFilters) {
  return infiniteQueryOptions({
    queryKey: ['cron', 'list', { assistant, enabled }],
    queryFn: ({ pageParam }) =>
      pageOf(
        api.POST('/runs/crons/search', {
          body: {
            limit: PAGE,
            offset: pageParam,
            sort_by: 'next_run_date',
            sort_order: 'asc',
            ...(assistant ? { assistant_id: assistant } : {}),
            ...(enabled ? { enabled: enabled === 'yes' } : {}),
          },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => (next === undefined ? undefined : Number(next)),
  });
}

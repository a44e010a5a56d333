import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, pageOf, type Schemas } from '../../api/client.ts';

export type Cron = Schemas['Cron'];

/** Filters of the list, as in the address. */
export interface CronFilters {
  readonly assistant?: string;
  /** `yes` or `no`. */
  readonly enabled?: string;
}

const PAGE = 50;

/** Fields that the list shows. Not the input of the runs, which can be large. */
const LISTED = [
  'cron_id',
  'assistant_id',
  'schedule',
  'timezone',
  'next_run_date',
  'enabled',
  'disabled_reason',
] as const satisfies (keyof Cron)[];

export type ListedCron = Pick<Cron, (typeof LISTED)[number]>;

/** Crons, ordered by the next time they fire. */
export function cronsQuery({ assistant, enabled }: CronFilters) {
  return infiniteQueryOptions({
    queryKey: ['cron', 'list', { assistant, enabled }],
    queryFn: ({ pageParam }) =>
      pageOf<ListedCron[]>(
        api.POST('/runs/crons/search', {
          body: {
            limit: PAGE,
            select: [...LISTED],
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

import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, pageOf, type Schemas } from '../../api/client.ts';

type RunSearch = Schemas['RunSearchRequest'];

/** Filters of the list, as they are in the address. */
export interface RunFilters {
  readonly status?: string;
  readonly assistant?: string;
  readonly error?: string;
  /** Age, hours. */
  readonly since?: string;
}

const PAGE = 50;

/** Runs of all threads, newest first. */
export function runsQuery({ status, assistant, error, since }: RunFilters) {
  return infiniteQueryOptions({
    queryKey: ['run', 'list', { status, assistant, error, since }],
    queryFn: ({ pageParam }) => {
      const body: RunSearch = { limit: PAGE };
      if (status) body.status = status as NonNullable<RunSearch['status']>;
      if (assistant) body.assistant_id = assistant;
      if (error) body.error = error;
      const from = since === undefined ? undefined : timeBefore(Number(since));
      if (from !== undefined) body.created_from = from;
      if (pageParam) body.cursor = pageParam;
      return pageOf(api.POST('/runs/search', { body }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

/** The time so many hours ago, not before 1970; `undefined` for what is no number, which an address may have. */
function timeBefore(hours: number): string | undefined {
  const time_ms = Math.max(0, Date.now() - hours * 3_600_000);
  return hours > 0 ? new Date(time_ms).toISOString() : undefined;
}

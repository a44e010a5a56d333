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
  /** Hours since they ended at most, or the time that they ended at or after. */
  readonly ended?: string;
}

/** In the address, and in the choice, for all that ended without a result. */
export const FAILED = 'failed';

const PAGE = 50;

const hoursAgo = (hours: string) => new Date(Date.now() - Number(hours) * 3_600_000).toISOString();

/** Rather than a number of hours. */
export const isTime = (text: string) => text.endsWith('Z');

/** Runs of all threads, newest first. */
export function runsQuery({ status, assistant, error, since, ended }: RunFilters) {
  return infiniteQueryOptions({
    queryKey: ['run', 'list', { status, assistant, error, since, ended }],
    queryFn: ({ pageParam }) => {
      const body: RunSearch = { limit: PAGE };
      if (status === FAILED) body.status = ['error', 'timeout'];
      else if (status) body.status = status as NonNullable<RunSearch['status']>;
      if (assistant) body.assistant_id = assistant;
      if (error) body.error = error;
      if (since) body.created_from = hoursAgo(since);
      if (ended) body.ended_from = isTime(ended) ? ended : hoursAgo(ended);
      if (pageParam) body.cursor = pageParam;
      return pageOf(api.POST('/runs/search', { body }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

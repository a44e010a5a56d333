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
      const from = since === undefined ? undefined : timeBefore(Number(since));
      if (from !== undefined) body.created_from = from;
      const ended_from = ended === undefined || isTime(ended) ? ended : timeBefore(Number(ended));
      if (ended_from !== undefined) body.ended_from = ended_from;
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

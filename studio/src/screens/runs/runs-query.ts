import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, pageOf, type Schemas } from '../../api/client.ts';
import { hoursFromNow } from '../../api/values.ts';
import { metadataOf } from '../threads/metadata-text.ts';

type RunSearch = Schemas['RunSearchRequest'];

/** Filters of the list, as they are in the address. */
export interface RunFilters {
  readonly status?: string;
  readonly assistant?: string;
  /** Of the thread: `name=value, …` or JSON. */
  readonly metadata?: string;
  readonly error?: string;
  /** How old they are at most, hours. */
  readonly since?: string;
  /** How old they are at least, hours. */
  readonly until?: string;
  /** Hours since they ended at most, or the time that they ended at or after. */
  readonly ended?: string;
}

/** In the address, and in the choice, for all that ended without a result. */
export const FAILED = 'failed';

const PAGE = 50;

/** Rather than a number of hours. */
export const isTime = (text: string) => text.endsWith('Z');

/** Runs of all threads, newest first. */
export function runsQuery({ status, assistant, metadata, error, since, until, ended }: RunFilters) {
  return infiniteQueryOptions({
    queryKey: ['run', 'list', { status, assistant, metadata, error, since, until, ended }],
    queryFn: ({ pageParam }) => {
      const body: RunSearch = { limit: PAGE };
      if (status === FAILED) body.status = ['error', 'timeout'];
      else if (status) body.status = status as NonNullable<RunSearch['status']>;
      if (assistant) body.assistant_id = assistant;
      if (metadata) body.thread_metadata = metadataOf(metadata);
      if (error) body.error = error;
      const [from, to] = [timeBefore(since), timeBefore(until)];
      if (from !== undefined) body.created_from = from;
      if (to !== undefined) body.created_to = to;
      const ended_from = ended === undefined || isTime(ended) ? ended : timeBefore(ended);
      if (ended_from !== undefined) body.ended_from = ended_from;
      if (pageParam) body.cursor = pageParam;
      return pageOf(api.POST('/runs/search', { body }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

/** The time so many hours ago; `undefined` unless it is a number above 0, which an address need not have. */
function timeBefore(text: string | undefined): string | undefined {
  const hours = Number(text);
  return hours > 0 ? hoursFromNow(-hours) : undefined;
}

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, dataOf, pageOf, type Schemas } from '../../api/client.ts';
import { hoursFromNow } from '../../api/values.ts';
import { metadataOf } from '../threads/metadata-text.ts';

type RunSearch = Schemas['RunSearchRequest'];

/** Filters of the list, as in the address. */
export interface RunFilters {
  readonly status?: string;
  readonly assistant?: string;
  /** Metadata of the thread: `name=value, …` or JSON. */
  readonly metadata?: string;
  readonly error?: string;
  /** Maximum age, hours. */
  readonly since?: string;
  /** Minimum age, hours. */
  readonly until?: string;
  /** Maximum hours since the end, or the earliest end time. */
  readonly ended?: string;
}

/** Status filter, in the address and the select, for all runs that ended without a result. */
export const FAILED = 'failed';
/** Status filter for runs that wait for a person. Their own status is `success`, which does not find them. */
export const WAITING = 'waiting';

const PAGE = 50;

/** True for a time, false for a number of hours. */
export const isTime = (text: string) => text.endsWith('Z');

/** Runs of all threads, newest first. */
export function runsQuery({ status, assistant, metadata, error, since, until, ended }: RunFilters) {
  return infiniteQueryOptions({
    queryKey: ['run', 'list', { status, assistant, metadata, error, since, until, ended }],
    queryFn: ({ pageParam }) => {
      const body: RunSearch = { limit: PAGE, with_removed: true };
      if (status === FAILED) body.status = ['error', 'timeout'];
      else if (status === WAITING) body.waiting = true;
      else if (status) body.status = status as NonNullable<RunSearch['status']>;
      if (status === 'success') body.waiting = false;
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

/** About a century. */
const MAX_HOURS = 1e6;

/** The time this many hours ago. `undefined` unless it is a sensible number, as an address may contain anything. */
export function timeBefore(text: string | undefined): string | undefined {
  const hours = Number(text);
  return hours > 0 && hours < MAX_HOURS ? hoursFromNow(-hours) : undefined;
}

/** Runs that a select offers. */
const RECENT_RUNS = 30;

/** The latest runs, without their inputs. */
export const recentRunsQuery = (assistant_id?: string) =>
  queryOptions({
    queryKey: ['run', 'list', { recent: assistant_id ?? 'all' }],
    queryFn: () => {
      const body = { limit: RECENT_RUNS, ...(assistant_id !== undefined && { assistant_id }) };
      return dataOf(api.POST('/runs/search', { body }));
    },
  });

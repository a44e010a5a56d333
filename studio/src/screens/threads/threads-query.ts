import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, dataOf, pageOf, type Schemas } from '../../api/client.ts';
import { metadataOf } from './metadata-text.ts';

export type Thread = Schemas['Thread'];
type ThreadSearch = Schemas['ThreadSearchRequest'];

/** Filters of the list, as they are in the address. */
export interface ThreadFilters {
  readonly status?: string;
  readonly assistant?: string;
  /** `name=value, …` or JSON. */
  readonly metadata?: string;
  /** The same for the newest values. */
  readonly values?: string;
  /** An id, or words of the title. */
  readonly find?: string;
  readonly owner?: string;
}

/** What the list is sorted by. The API does not page by status. */
export type ThreadSort = 'created_at' | 'updated_at';

/** The order of the list, as it is in the address. */
export interface ThreadOrder {
  /** A `ThreadSort`; those that changed last are first without it. */
  readonly sort?: string;
  /** `asc`, or the newest first. */
  readonly order?: string;
}

const PAGE = 50;
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** What lists show of a thread. Never its values, which may be megabytes. */
export const LISTED = ['thread_id', 'created_at', 'updated_at', 'metadata', 'status'] as const;

/** Threads that fit the filters, in this order. */
export function threadsQuery(filters: ThreadFilters, order: ThreadOrder = {}) {
  const sorted = { sort_by: sortOf(order), sort_order: order.order === 'asc' ? 'asc' : 'desc' } as const;
  return infiniteQueryOptions({
    queryKey: ['thread', 'list', { ...filters, ...sorted }],
    queryFn: ({ pageParam }) => {
      const body = { ...searchOf(filters), ...sorted, limit: PAGE, cursor: pageParam };
      return pageOf(api.POST('/threads/search', { body }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

/** What an order sorts by. An address may name anything. */
export function sortOf({ sort }: ThreadOrder): ThreadSort {
  return sort === 'created_at' ? sort : 'updated_at';
}

function searchOf({ status, assistant, metadata, values, find, owner }: ThreadFilters): ThreadSearch {
  const search: ThreadSearch = { select: [...LISTED] };
  const wanted = metadata ? metadataOf(metadata) : {};
  if (assistant) wanted['assistant_id'] = assistant;
  if (owner) wanted['owner'] = owner;
  if (find && UUID.test(find)) search.ids = [find];
  else if (find) search.title = find;
  if (values) search.values = metadataOf(values);
  if (status) search.status = status as NonNullable<ThreadSearch['status']>;
  if (Object.keys(wanted).length > 0) search.metadata = wanted;
  return search;
}

/** First messages of threads, by id: the list does not wait for them. */
export function firstMessagesQuery(ids: readonly string[]) {
  return queryOptions({
    // In no order: lists that are sorted by changes would ask again with each of them.
    queryKey: ['thread', 'first-messages', ids.toSorted()],
    queryFn: async () => {
      const extract = { first: 'values.messages[0].content' };
      const body: ThreadSearch = { ids: [...ids], limit: ids.length, select: ['thread_id'], extract };
      const found = await dataOf(api.POST('/threads/search', { body }));
      return new Map(found.map(({ thread_id, extracted }) => [thread_id, firstWords(extracted?.['first'])]));
    },
    enabled: ids.length > 0,
    // A thread that moves to another page keeps its name meanwhile.
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Bytes of the histories of threads, by id: the list does not wait for them. */
export function sizesQuery(ids: readonly string[]) {
  return queryOptions({
    queryKey: ['thread', 'sizes', ids.toSorted()],
    queryFn: async () => {
      const select = ['thread_id' as const, 'total_bytes' as const];
      const body: ThreadSearch = { ids: [...ids], limit: ids.length, select };
      const found = await dataOf(api.POST('/threads/search', { body }));
      return new Map(found.map(({ thread_id, total_bytes }) => [thread_id, total_bytes]));
    },
    placeholderData: (before) => before,
    // To the minute: a thread that is written to would be measured four times a second.
    staleTime: 60_000,
  });
}

const MAX_WORDS = 80;

/** The beginning of a message, of which the content is text or parts; undefined without text. */
function firstWords(content: unknown): string | undefined {
  const parts = Array.isArray(content) ? content : [content];
  const texts = parts.map((part) => (typeof part === 'string' ? part : (part as { text?: unknown })?.text));
  const text = texts.filter((each) => typeof each === 'string').join(' ');
  return text.trim().slice(0, MAX_WORDS) || undefined;
}

/** Metadata of threads on which Studio executed one node alone: they are no conversations. */
export const NODE_ALONE = 'studio_node';

/** Title that a person or a client gave. */
export function titleOf({ metadata }: Pick<Thread, 'metadata'>): string | undefined {
  const { title } = metadata as { title?: unknown };
  return typeof title === 'string' && title !== '' ? title : undefined;
}

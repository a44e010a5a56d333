import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, dataOf, pageOf, type Schemas } from '../../api/client.ts';
import { metadataOf } from './metadata-text.ts';

export type Thread = Schemas['Thread'];
type ThreadSearch = Schemas['ThreadSearchRequest'];

/** Filters of the list, as in the address. */
export interface ThreadFilters {
  readonly status?: string;
  readonly assistant?: string;
  /** `name=value, …` or JSON. */
  readonly metadata?: string;
  /** Filter of the newest values, in the same form. */
  readonly values?: string;
  /** A thread id, or words from the title. */
  readonly find?: string;
  readonly owner?: string;
}

/** Sort keys. The API cannot page by status. */
export type ThreadSort = 'created_at' | 'updated_at';

/** Order of the list, as in the address. */
export interface ThreadOrder {
  /** A `ThreadSort`. Last updated first by default. */
  readonly sort?: string;
  /** `asc`, or newest first by default. */
  readonly order?: string;
}

const PAGE = 50;
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** Fields that lists show. Never the values, which can be megabytes. */
export const LISTED = ['thread_id', 'created_at', 'updated_at', 'metadata', 'status'] as const;

/** Threads that match the filters, in this order. */
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

/** The sort key of an order. An address may contain anything. */
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

/** First messages of threads, by id. The list does not wait for them. */
export function firstMessagesQuery(ids: readonly string[]) {
  return queryOptions({
    // Ids are sorted for the key, or a list ordered by last update would refetch at each change.
    queryKey: ['thread', 'first-messages', ids.toSorted()],
    queryFn: async () => {
      const extract = { first: 'values.messages[0].content' };
      const body: ThreadSearch = { ids: [...ids], limit: ids.length, select: ['thread_id'], extract };
      const found = await dataOf(api.POST('/threads/search', { body }));
      return new Map(found.map(({ thread_id, extracted }) => [thread_id, firstWords(extracted?.['first'])]));
    },
    // Values are large, so not at each change: a thread has its first message when its first run ends.
    refetchInterval: ({ state }) => ([...(state.data?.values() ?? [])].includes(undefined) ? 15_000 : false),
    enabled: ids.length > 0,
    // A thread that moves to another page keeps its name while loading.
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** History sizes of threads in bytes, by id. The list does not wait for them. */
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
    // At most once a minute, or a busy thread would be measured four times a second.
    staleTime: 60_000,
  });
}

const MAX_WORDS = 80;

/** The start of a message whose content is a string or blocks. Undefined without text. */
function firstWords(content: unknown): string | undefined {
  const parts = Array.isArray(content) ? content : [content];
  const texts = parts.map((part) => (typeof part === 'string' ? part : (part as { text?: unknown })?.text));
  const text = texts.filter((each) => typeof each === 'string').join(' ');
  return text.trim().slice(0, MAX_WORDS) || undefined;
}

/** Metadata of threads that Studio created to execute a single node. They are not conversations. */
export const NODE_ALONE = 'studio_node';

/** Title set by a user or a client. */
export function titleOf({ metadata }: Pick<Thread, 'metadata'>): string | undefined {
  const { title } = metadata as { title?: unknown };
  return typeof title === 'string' && title !== '' ? title : undefined;
}

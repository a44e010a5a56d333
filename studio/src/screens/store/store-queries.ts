import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { conditionsIn, filterOf } from './conditions.ts';

/** An item of the list, with a preview of its value. */
export type Item = Pick<Schemas['SearchItem'], 'namespace' | 'key' | 'updated_at' | 'score'> & {
  readonly preview: NonNullable<Schemas['SearchItem']['preview']>;
};

/** The view state, as in the address. */
export interface StoreView {
  /** The namespace: labels joined by dots, which labels cannot contain. */
  readonly namespace?: string;
  /** Search query: words or, with an index, meaning. */
  readonly query?: string;
  /** Filter conditions in the API's form, as JSON. */
  readonly filter?: string;
  /** The open item, by namespace and key. */
  readonly item?: string;
  readonly key?: string;
}

const PAGE = 50;
const SELECT = ['namespace', 'key', 'updated_at', 'score', 'preview'] as const;
const MAX_NAMESPACES = 1000;

export const labelsOf = (namespace: string | undefined): string[] => (namespace ? namespace.split('.') : []);

export const namespacesQuery = queryOptions({
  queryKey: ['item', 'list', 'namespaces'],
  queryFn: async () => {
    const body = { limit: MAX_NAMESPACES };
    return (await dataOf(api.POST('/store/namespaces', { body }))).namespaces;
  },
});

/** Items below a namespace: best matches first, or else last updated first. Listing them does not refresh their TTL. */
export function itemsQuery({ namespace, query, filter }: StoreView) {
  return infiniteQueryOptions({
    queryKey: ['item', 'list', { namespace, query, filter }],
    queryFn: async ({ pageParam }) => {
      const body = {
        namespace_prefix: labelsOf(namespace),
        limit: PAGE,
        offset: pageParam,
        refresh_ttl: false,
        select: [...SELECT],
        filter: filterOf(conditionsIn(filter)),
        ...(query ? { query } : {}),
      };
      return (await dataOf(api.POST('/store/items/search', { body }))).items as Item[];
    },
    initialPageParam: 0,
    getNextPageParam: (page, pages) => (page.length < PAGE ? undefined : pages.length * PAGE),
  });
}

export function itemQuery(namespace: string, key: string) {
  return queryOptions({
    queryKey: ['item', 'list', namespace, key],
    queryFn: () => getItem(labelsOf(namespace), key),
  });
}

/** The whole item, with the settings that a put must repeat. `null` if there is none. */
function getItem(namespace: string[], key: string) {
  const query = { namespace, key, refresh_ttl: false, include: 'ttl,index' };
  return dataOf(api.GET('/store/items', { params: { query } }));
}

/** Changes one field only. A put replaces value, TTL and index, so it repeats the others. */
export async function setField(
  { namespace, key }: Pick<Item, 'namespace' | 'key'>,
  field: string,
  value: unknown,
): Promise<void> {
  const item = await getItem(namespace, key);
  if (!item) throw new Error('This item no longer exists. It may have been deleted or expired.');
  await putItem({
    ...item,
    value: { ...item.value, [field]: value },
    ttl: item.ttl?.ttl_minutes ?? null,
    index: item.index,
  });
}

interface Put extends Pick<Schemas['StorePutRequest'], 'namespace' | 'key' | 'value'> {
  /** Minutes. `undefined` for the server default. */
  readonly ttl: number | null | undefined;
  /** `undefined` for the server default. */
  readonly index: Schemas['Item']['index'] | undefined;
}

export function putItem({ namespace, key, value, ttl, index }: Put): Promise<unknown> {
  const rules = { ...(ttl !== undefined && { ttl }), ...(index !== undefined && { index }) };
  return dataOf(api.PUT('/store/items', { body: { namespace, key, value, ...rules } }));
}

export function deleteItem({ namespace, key }: Pick<Item, 'namespace' | 'key'>): Promise<unknown> {
  return dataOf(api.DELETE('/store/items', { body: { namespace, key } }));
}

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';

export type Item = Schemas['SearchItem'];

/** What is shown, as it is in the address. */
export interface StoreView {
  /** Labels of the namespace, between dots, which no label has. */
  readonly namespace?: string;
  /** Words or a meaning to search for. */
  readonly query?: string;
  /** The item that is open, by its namespace and key. */
  readonly item?: string;
  readonly key?: string;
}

/** The list has whole values: half as many stay below 300 kB with values of 6 kB. */
const PAGE = 50;
const MAX_NAMESPACES = 1000;

export const labelsOf = (namespace: string | undefined): string[] => (namespace ? namespace.split('.') : []);

export const namespacesQuery = queryOptions({
  queryKey: ['item', 'list', 'namespaces'],
  queryFn: async () => {
    const body = { limit: MAX_NAMESPACES };
    return (await dataOf(api.POST('/store/namespaces', { body }))).namespaces;
  },
});

/** Items under a namespace: the best matches first, or what changed last. Looking at them does not prolong their life. */
export function itemsQuery({ namespace, query }: StoreView) {
  return infiniteQueryOptions({
    queryKey: ['item', 'list', { namespace, query }],
    queryFn: async ({ pageParam }) => {
      const body = {
        namespace_prefix: labelsOf(namespace),
        limit: PAGE,
        offset: pageParam,
        refresh_ttl: false,
        ...(query ? { query } : {}),
      };
      return (await dataOf(api.POST('/store/items/search', { body }))).items;
    },
    initialPageParam: 0,
    getNextPageParam: (page, pages) => (page.length < PAGE ? undefined : pages.length * PAGE),
  });
}

export function itemQuery(namespace: string, key: string) {
  return queryOptions({
    queryKey: ['item', 'list', namespace, key],
    queryFn: () =>
      dataOf(
        api.GET('/store/items', {
          params: { query: { namespace: labelsOf(namespace), key, refresh_ttl: false, include: 'ttl' } },
        }),
      ),
  });
}

export function deleteItem({ namespace, key }: Pick<Item, 'namespace' | 'key'>): Promise<unknown> {
  return dataOf(api.DELETE('/store/items', { body: { namespace, key } }));
}

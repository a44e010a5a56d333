import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import type { Session } from '../../api/session.ts';
import { isObject } from '../../api/values.ts';

/** Screens with saved views. */
export type ViewScreen = 'threads' | 'runs' | 'inbox';

/** Filters, as in the address. */
export type Filters = Readonly<Record<string, string | undefined>>;

export interface View {
  readonly name: string;
  readonly filters: Filters;
}

/** Maximum number of views, more than fit into a menu. */
const MAX_VIEWS = 100;

/** Namespace of a caller's views. Users may only use namespaces that start with their identity, as encoded by the server. */
export function viewsNamespace({ viewing_as, user, caller }: Session, screen: ViewScreen): string[] {
  const owner = viewing_as ?? user ?? caller ?? 'everyone';
  const label = owner.replaceAll('%', '%25').replaceAll('.', '%2E').replaceAll('*', '%2A');
  return [label, 'studio', 'views', screen];
}

/** Saved views, ordered by name. */
export function viewsQuery(namespace: string[]) {
  return queryOptions({
    queryKey: ['item', 'list', { views: namespace }],
    queryFn: async (): Promise<View[]> => {
      const body = { namespace_prefix: namespace, limit: MAX_VIEWS, refresh_ttl: false };
      const { items } = await dataOf(api.POST('/store/items/search', { body }));
      return items
        .map(({ key, value }) => ({ name: key, filters: filtersOf(value['filters']) }))
        .toSorted((a, b) => a.name.localeCompare(b.name));
    },
  });
}

/** Other clients may write anything there, so entries are validated. */
function filtersOf(value: unknown): Filters {
  const entries = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** Saves a view and replaces one of the same name. It is not indexed and does not expire. */
export function saveView(namespace: string[], { name, filters }: View): Promise<unknown> {
  const body = { namespace, key: name, value: { filters }, index: false as const, ttl: null };
  return dataOf(api.PUT('/store/items', { body }));
}

export function deleteView(namespace: string[], name: string): Promise<unknown> {
  return dataOf(api.DELETE('/store/items', { body: { namespace, key: name } }));
}

export async function renameView(namespace: string[], view: View, name: string): Promise<void> {
  await saveView(namespace, { ...view, name });
  await deleteView(namespace, view.name);
}

import type { StoreItem, StoreMatch } from '../schemas/store.ts';
import type { StoreChange, StoreItemRepository } from '../storage/store-items.ts';
import type { NamespaceQuery } from '../storage/store-namespaces.ts';
import { storeConditions } from './store-filter.ts';
import { checkExisting, checkKey, checkLabels, checkNamespace } from './store-namespace.ts';

/** The configuration's `store.ttl`. */
export interface StoreTtlRules {
  /** Minutes, of items that name none; undefined: they stay. */
  readonly default_ttl?: number | undefined;
  /** Whether the time of an item starts again when it is read. */
  readonly refresh_on_read: boolean;
}

export interface StoreWrite {
  readonly namespace: string[];
  readonly key: string;
  /** Null deletes. */
  readonly value: Record<string, unknown> | null;
  /** What a search with a query sees: nothing, or these paths instead of the usual ones. */
  readonly index?: false | string[] | null | undefined;
  /** Minutes; null: it stays. */
  readonly ttl?: number | null | undefined;
}

export interface StoreQuery {
  readonly namespace_prefix: string[];
  readonly filter?: Record<string, unknown> | null | undefined;
  readonly query?: string | null | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly refresh_ttl?: boolean | null | undefined;
}

export type LongTermStore = ReturnType<typeof longTermStore>;

/**
 * The rules of the long-term store (CONTRACT §13), the same for clients and for graphs. Each verb throws `BadRequest`
 * or `InvalidInput` for a namespace, a key or a filter that cannot be.
 */
export function longTermStore({ items, ttl }: { items: StoreItemRepository; ttl: StoreTtlRules }) {
  const refreshes = (wanted: boolean | null | undefined) => wanted ?? ttl.refresh_on_read;

  function changeOf({ namespace, key, value, ttl: minutes = ttl.default_ttl }: StoreWrite): StoreChange {
    checkKey(key);
    if (value === null) checkExisting(namespace);
    else checkNamespace(namespace);
    return { namespace, key, value, ttl_minutes: minutes ?? null };
  }

  return {
    /** All or none, in their order; kept when the promise resolves. */
    async apply(writes: readonly StoreWrite[]): Promise<void> {
      await items.apply(writes.map(changeOf));
    },

    async get({
      namespace,
      key,
      refresh_ttl,
    }: Pick<StoreWrite, 'namespace' | 'key'> & Pick<StoreQuery, 'refresh_ttl'>): Promise<
      StoreItem | undefined
    > {
      checkKey(key);
      checkExisting(namespace);
      return items.get(namespace, key, refreshes(refresh_ttl));
    },

    async search({
      filter,
      namespace_prefix,
      refresh_ttl,
      limit,
      offset,
    }: StoreQuery): Promise<StoreMatch[]> {
      checkLabels(namespace_prefix);
      const conditions = storeConditions(filter ?? {});
      const found = await items.search(
        { namespace_prefix, conditions, limit, offset },
        refreshes(refresh_ttl),
      );
      return found.map((item) => ({ ...item, score: null }));
    },

    async namespaces(query: NamespaceQuery): Promise<string[][]> {
      checkLabels([...(query.prefix ?? []), ...(query.suffix ?? [])]);
      return items.namespaces(query);
    },
  };
}

import type { Actor } from '../auth/actor.ts';
import { BadRequest } from '../core/errors.ts';
import type { LongTermStore } from '../graphs/long-term-store.ts';
import type {
  StoreDelete,
  StoreGetQuery,
  StoreItem,
  StoreMatch,
  StoreNamespaceQuery,
  StorePut,
  StoreSearch,
} from '../schemas/store.ts';

export type StoreService = ReturnType<typeof storeService>;

/**
 * The long-term store for clients (CONTRACT §13). Namespaces and filters of requests enter here and nowhere else; graphs
 * use the store itself.
 */
export function storeService({ store }: { store: LongTermStore }) {
  return {
    /** Throws `BadRequest` or `InvalidInput` for a namespace, a key or a path that cannot be. */
    put(_actor: Actor, item: StorePut): Promise<void> {
      return store.apply([item]);
    },

    /** Null when there is none. */
    async get(_actor: Actor, { namespace, key, refresh_ttl }: StoreGetQuery): Promise<StoreItem | null> {
      if (key === undefined) throw new BadRequest('Key is required');
      return (await store.get({ namespace, key, refresh_ttl })) ?? null;
    },

    delete(_actor: Actor, { namespace, key }: StoreDelete): Promise<void> {
      return store.apply([{ namespace, key, value: null }]);
    },

    search(_actor: Actor, query: StoreSearch): Promise<StoreMatch[]> {
      return store.search({ ...query, namespace_prefix: query.namespace_prefix ?? [] });
    },

    namespaces(_actor: Actor, query: StoreNamespaceQuery): Promise<string[][]> {
      return store.namespaces(query);
    },
  };
}

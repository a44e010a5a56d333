import type { AccessEvent, Actor } from '../auth/actor.ts';
import { authorize } from '../auth/authorize.ts';
import { BadRequest, Forbidden } from '../core/errors.ts';
import { objectPreview } from '../core/object-preview.ts';
import { pickFields } from '../core/pick-fields.ts';
import type { LongTermStore } from '../graphs/store/long-term-store.ts';
import type {
  StoreDelete,
  StoreGetQuery,
  StoreItem,
  StoreMatch,
  StoreNamespaceQuery,
  StorePut,
  StoreSearch,
} from '../schemas/store.ts';
import { itemPasses } from '../storage/store/visibility.ts';

export type StoreService = ReturnType<typeof storeService>;

/**
 * The long-term store for clients (contract §13). Rules may replace the requested namespace, which is validated like
 * any other, and hide items by value. Graphs use the store directly.
 */
export function storeService({ store }: { store: LongTermStore }) {
  return {
    /** Throws `BadRequest` or `InvalidInput` for an invalid namespace, key or path. */
    async put(actor: Actor, item: StorePut): Promise<void> {
      const { permitted, visibility } = await authorizeItems(actor, 'store:put', item);
      // An existing item is checked in `apply`, where it is replaced.
      if (visibility?.metadata && !itemPasses(permitted, visibility.metadata))
        throw new Forbidden('Forbidden');
      await store.apply([permitted], visibility);
    },

    /** `null` if the item does not exist. `include` adds its expiry (`ttl`) and its own index rule (`index`), if it has any. */
    async get(actor: Actor, { key, include, ...query }: StoreGetQuery): Promise<StoreItem | null> {
      if (key === undefined) throw new BadRequest('Key is required');
      const { permitted, visibility } = await authorizeItems(actor, 'store:get', { ...query, key });
      const item = await store.get(permitted, visibility);
      const ttl = item && include?.includes('ttl') ? await store.expiry(permitted) : undefined;
      const index = item && include?.includes('index') ? await store.indexRule(permitted) : null;
      return item
        ? { ...item, ...(ttl && { ttl }), ...(index !== null && { index: index && [...index] }) }
        : null;
    },

    async delete(actor: Actor, { namespace, key }: StoreDelete): Promise<void> {
      const { permitted, visibility } = await authorizeItems(actor, 'store:delete', { namespace, key });
      await store.apply([{ ...permitted, value: null }], visibility);
    },

    /** Only the selected fields. Throws `InvalidInput` if the values are too large for one reply. */
    async search(
      actor: Actor,
      { namespace_prefix, select, ...query }: StoreSearch,
    ): Promise<Partial<StoreMatch>[]> {
      const wanted = { ...query, namespace: namespace_prefix ?? [] };
      const { permitted, visibility } = await authorizeItems(actor, 'store:search', wanted);
      const has_values = !select || select.includes('value') || select.includes('preview');
      const scope = { ...permitted, namespace_prefix: permitted.namespace, visibility, has_values };
      const found: StoreMatch[] = await store.search(scope);
      return found.map((item) =>
        pickFields(
          select?.includes('preview') ? { ...item, preview: objectPreview(item.value) } : item,
          select,
        ),
      );
    },

    async namespaces(actor: Actor, { prefix, ...query }: StoreNamespaceQuery): Promise<string[][]> {
      const wanted = { ...query, namespace: prefix ?? [] };
      const { permitted, visibility } = await authorizeItems(actor, 'store:list_namespaces', wanted);
      return store.namespaces({ ...permitted, prefix: permitted.namespace }, visibility);
    },
  };
}

/** The request as modified by the rules, and the visibility of items (contract §10 `store`). */
async function authorizeItems<Requested extends object>(
  actor: Actor,
  event: AccessEvent,
  requested: Requested,
) {
  const permitted = { ...requested };
  const visibility = await authorize(actor, event, permitted as Record<string, unknown>);
  return { permitted, visibility };
}

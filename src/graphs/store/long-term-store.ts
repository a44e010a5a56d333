import { Conflict, InvalidInput } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import type { StoreExpiry, StoreItem, StoreMatch } from '../../schemas/store.ts';
import type { Visibility } from '../../storage/access/visibility.ts';
import type { IndexRule } from '../../storage/store/encryption.ts';
import type { StoreItemRepository, StoreSearchQuery } from '../../storage/store/items.ts';
import type { NamespaceQuery } from '../../storage/store/namespaces.ts';
import type { StoreVectors, StoreWrite } from '../../storage/store/write.ts';
import type { Embeddable, StoreIndex } from './store-index.ts';
import {
  checkItemNamespace,
  checkKey,
  checkLabels,
  checkNamespace,
  checkPaths,
  storeConditions,
} from './store-validation.ts';

/** The configuration's `store.ttl`. */
export interface StoreTtlRules {
  /** TTL of items without their own, minutes; `undefined`: they do not expire. */
  readonly default_ttl?: number | undefined;
  /** Whether a read restarts the TTL of an item. */
  readonly refresh_on_read: boolean;
}

export interface StoreChange {
  readonly namespace: string[];
  readonly key: string;
  /** Null deletes. */
  readonly value: Record<string, unknown> | null;
  /** What a search with a query indexes: nothing, or these paths instead of the default ones. */
  readonly index?: false | readonly string[] | null | undefined;
  /** Minutes; null: does not expire. */
  readonly ttl?: number | null | undefined;
}

export interface StoreItemKey {
  readonly namespace: string[];
  readonly key: string;
  readonly refresh_ttl?: boolean | null | undefined;
}

export interface StoreQuery {
  readonly namespace_prefix: string[];
  readonly filter?: Record<string, unknown> | null | undefined;
  readonly query?: string | null | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly refresh_ttl?: boolean | null | undefined;
  /** `undefined`: all. */
  readonly visibility?: Visibility | undefined;
  /** `false` leaves the values out: they are `{}`. */
  readonly has_values?: boolean | undefined;
}

export interface LongTermStoreDeps {
  readonly items: StoreItemRepository;
  readonly ttl: StoreTtlRules;
  /** Enables semantic search; without it, search is by words. */
  readonly index?: StoreIndex | undefined;
}

export type LongTermStore = ReturnType<typeof longTermStore>;

/**
 * The rules of the long-term store (contract §13), the same for clients and graphs. Each verb throws `BadRequest` or
 * `InvalidInput` for an invalid namespace, key or filter, `ProjectFailure` if the embedder fails, and `Conflict` for a put
 * over an item that is not visible to the actor.
 */
export function longTermStore({ items, ttl, index }: LongTermStoreDeps) {
  const listeners: ((item: Readonly<Pick<StoreItem, 'namespace' | 'key'>>) => void)[] = [];
  const refreshes = (wanted: boolean | null | undefined) => wanted ?? ttl.refresh_on_read;

  function toStoreWrite(change: StoreChange, embedded: StoreVectors | undefined): StoreWrite {
    const { namespace, key, value, index: rule = null, ttl: minutes = ttl.default_ttl ?? null } = change;
    return { namespace, key, value, ttl_minutes: minutes, index_rule: rule, embedded };
  }

  async function toSearchQuery(text: string | null | undefined): Promise<StoreSearchQuery> {
    if (!text?.trim()) return undefined;
    return index ? { vector: await index.embedQuery(text), indexed_by: index.name } : text;
  }

  return {
    /** Calls `listener`, which must not throw, with each item that is put or deleted, once that is committed. */
    onChanged(listener: (item: Readonly<Pick<StoreItem, 'namespace' | 'key'>>) => void): void {
      listeners.push(listener);
    },

    /** Atomic and in order; committed when the promise resolves. The vectors are computed first. */
    async apply(changes: readonly StoreChange[], visibility?: Visibility): Promise<void> {
      // Copied first: the caller may mutate its objects while vectors are computed.
      const snapshot: StoreChange[] = JSON.parse(JSON.stringify(changes));
      snapshot.forEach(checkChange);
      const vectors = index && (await embedChanges(index, snapshot));
      const writes = snapshot.map((change, place) => toStoreWrite(change, vectors?.[place]));
      if (!(await items.apply(writes, visibility))) throw new Conflict('Conflict');
      for (const listener of listeners) for (const change of snapshot) listener(change);
    },

    async get(
      { refresh_ttl, ...address }: StoreItemKey,
      visibility?: Visibility,
    ): Promise<StoreItem | undefined> {
      checkKey(address.key);
      checkItemNamespace(address.namespace);
      return items.get(address, refreshes(refresh_ttl), visibility);
    },

    /** When an item that exists expires; `undefined` if it never does. */
    expiry: (address: Pick<StoreItem, 'namespace' | 'key'>): Promise<StoreExpiry | undefined> =>
      items.expiry(address),

    /** The `index` that an item was put with; `null` without one. */
    indexRule: (address: Pick<StoreItem, 'namespace' | 'key'>): Promise<IndexRule> =>
      items.indexRule(address),

    /** Best match first with a query, otherwise last changed first. */
    async search({ filter, query, refresh_ttl, has_values, ...scope }: StoreQuery): Promise<StoreMatch[]> {
      checkLabels(scope.namespace_prefix);
      const conditions = storeConditions(filter ?? {});
      const found = await toSearchQuery(query);
      return items.search({ ...scope, conditions }, found, refreshes(refresh_ttl), { has_values });
    },

    async namespaces(query: NamespaceQuery, visibility?: Visibility): Promise<string[][]> {
      checkLabels([...(query.prefix ?? []), ...(query.suffix ?? [])]);
      return items.namespaces(query, visibility);
    },

    /** Computes the vectors of some items that lack those of this index; returns how many. Without an index, 0. */
    async indexBatch(limit: number): Promise<number> {
      if (!index) return 0;
      const found = await items.findNotIndexedBy(index.name, limit);
      const vectors = await embedEach(
        index,
        found.map(({ value, index_rule }) => ({ value, index: index_rule })),
      );
      await items.putVectors(
        index.name,
        found.map((item, place) => ({ ...item, vectors: vectors[place] ?? [] })),
      );
      return found.length;
    },
  };
}

function checkChange({ namespace, key, value, index }: StoreChange): void {
  checkKey(key);
  checkPaths(index);
  if (value !== null && !isObject(value)) throw new InvalidInput('The value of an item must be an object.');
  if (value === null) checkItemNamespace(namespace);
  else checkNamespace(namespace);
}

async function embedChanges(
  index: StoreIndex,
  changes: readonly StoreChange[],
): Promise<(StoreVectors | undefined)[]> {
  const vectors = await index.embedItems(
    changes.map(({ value, index: rule }) => ({ value: value ?? {}, index: value === null ? false : rule })),
  );
  return changes.map(({ value }, place) =>
    value === null ? undefined : { indexed_by: index.name, vectors: vectors[place] ?? [] },
  );
}

/**
 * An item that cannot be embedded, because its text is too long for the model, must not block the others: it stays
 * without vectors. Throws if all fail, because then the items are not the cause.
 */
async function embedEach(index: StoreIndex, items: readonly Embeddable[]): Promise<Float32Array[][]> {
  try {
    return await index.embedItems(items);
  } catch (error) {
    const each = await Promise.allSettled(items.map((item) => index.embedItems([item])));
    if (!each.some(({ status }) => status === 'fulfilled')) throw error;
    return each.map((result) => (result.status === 'fulfilled' ? (result.value[0] ?? []) : []));
  }
}

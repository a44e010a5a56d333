import { toJson } from '../core/json.ts';
import type { StoreItem } from '../schemas/store.ts';
import type { Db } from './db.ts';
import { canonicalJson } from './json.ts';
import { fieldCompares, fieldEquals } from './json-field.ts';
import { all, type DialectSql, type Sql, sql } from './sql.ts';
import { listNamespaces, type NamespaceQuery } from './store-namespaces.ts';
import { isUnder, LIVE, prefixOf } from './store-rows.ts';
import { NOW, nowPlus, nowPlusMinutes } from './time.ts';

export interface StoreChange extends Pick<StoreItem, 'namespace' | 'key'> {
  /** Null deletes. */
  readonly value: Record<string, unknown> | null;
  /** How long from now the item is there; null for good. */
  readonly ttl_minutes: number | null;
}

export type StoreCondition =
  | { readonly field: string; readonly is: 'eq' | 'ne'; readonly value: unknown }
  | { readonly field: string; readonly is: 'gt' | 'gte' | 'lt' | 'lte'; readonly value: number | string };

export interface StoreSearch {
  /** `['a']` finds `['a']` and `['a', 'b']`, never `['ab']`; `[]` finds all. */
  readonly namespace_prefix: readonly string[];
  /** All must hold, of the value's own fields. */
  readonly conditions: readonly StoreCondition[];
  readonly limit: number;
  readonly offset: number;
}

export type StoreItemRepository = ReturnType<typeof storeItemRepository>;

/** The long-term store. What has expired is not found, whether it is swept already or not. */
export function storeItemRepository(db: Db) {
  return {
    /** With `refresh` the time of an item that goes starts again. */
    async get(namespace: readonly string[], key: string, refresh: boolean): Promise<StoreItem | undefined> {
      const row = await db.get<ItemRow>(
        sql`${SELECT} where prefix = ${prefixOf(namespace)} and key = ${key} and ${LIVE}`,
      );
      if (row && refresh) await refreshTimes(db, [row]);
      return row && itemOf(row);
    },

    /** Last changed first. */
    async search(
      { namespace_prefix, conditions, limit, offset }: StoreSearch,
      refresh: boolean,
    ): Promise<StoreItem[]> {
      const rows = await db.all<ItemRow>(sql`
        ${SELECT} where ${all([isUnder(namespace_prefix), LIVE, ...conditions.map(condition)])}
        order by updated_at desc, prefix, key limit ${limit} offset ${offset}`);
      if (refresh) await refreshTimes(db, rows);
      return rows.map(itemOf);
    },

    /** All or none, in their order. */
    apply(changes: readonly StoreChange[]): Promise<void> {
      // At once, for the caller's objects may change before the transaction begins.
      const statements = changes.map((change) =>
        change.value === null ? removal(change) : insertion(change),
      );
      return db.transaction('promised', async (tx) => {
        for (const statement of statements) await tx.run(statement);
      });
    },

    namespaces: (query: NamespaceQuery): Promise<string[][]> => listNamespaces(db, query),
  };
}

const SELECT = sql`select namespace, prefix, key, value, created_at, updated_at, ttl_minutes from store_items`;

type ItemRow = Record<keyof StoreItem | 'prefix', string> & { ttl_minutes: number | null };

function itemOf({ namespace, key, value, created_at, updated_at }: ItemRow): StoreItem {
  return { namespace: JSON.parse(namespace), key, value: JSON.parse(value), created_at, updated_at };
}

/** Nobody was promised that a read is remembered, so it does not wait for the disk. */
async function refreshTimes(db: Db, rows: readonly ItemRow[]): Promise<void> {
  const going = rows.filter(({ ttl_minutes }) => ttl_minutes !== null);
  if (going.length === 0) return;
  await db.transaction('relaxed', async (tx) => {
    for (const { prefix, key } of going) {
      await tx.run(sql`update store_items set expires_at = ${nowPlusMinutes('ttl_minutes')}
        where prefix = ${prefix} and key = ${key} and ttl_minutes is not null and ${LIVE}`);
    }
  });
}

function condition({ field, is, value }: StoreCondition): Sql | DialectSql {
  switch (is) {
    case 'eq':
      return fieldEquals('store_items.value', field, value);
    case 'ne':
      return sql`not ${fieldEquals('store_items.value', field, value)}`;
    default:
      return fieldCompares('store_items.value', field, is, value);
  }
}

function removal({ namespace, key }: StoreChange): Sql {
  return sql`delete from store_items where prefix = ${prefixOf(namespace)} and key = ${key}`;
}

/** An item keeps the time of its creation when it is put again, but for one that had expired: that is a new one. */
function insertion({ namespace, key, value, ttl_minutes }: StoreChange): Sql {
  const expiry = ttl_minutes === null ? sql`null` : nowPlus(ttl_minutes * 60_000);
  return sql`
    insert into store_items (namespace, prefix, key, value, created_at, updated_at, expires_at, ttl_minutes)
    values (${toJson(namespace)}, ${prefixOf(namespace)}, ${key}, ${canonicalJson(value)}, ${NOW}, ${NOW},
      ${expiry}, ${ttl_minutes})
    on conflict (prefix, key) do update set value = excluded.value, updated_at = excluded.updated_at,
      expires_at = excluded.expires_at, ttl_minutes = excluded.ttl_minutes,
      created_at = case when store_items.expires_at <= ${NOW} then excluded.created_at else store_items.created_at end`;
}

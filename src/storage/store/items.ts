import { bind } from '../../db/bind.ts';
import { columns, notNull, text } from '../../db/columns.ts';
import type { Db, Transaction } from '../../db/db.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { and, type DialectSql, type RowOf, raw, SKIP_LOCKED, sql } from '../../db/sql.ts';
import { NOW, nowPlusMinutes } from '../../db/time.ts';
import type { StoreExpiry, StoreItem, StoreMatch } from '../../schemas/store.ts';
import type { Visibility } from '../access/visibility.ts';
import { boundedRows } from '../search/list-bytes.ts';
import { decryptRule, decryptValue, type IndexRule } from './encryption.ts';
import { findByWords } from './full-text.ts';
import { applyComparisons, applyConditions } from './item-slices.ts';
import { listItems } from './list-items.ts';
import { listNamespaces } from './namespaces.ts';
import { type Found, isItem, isVisible, LIVE, prefixOf, type StoreScope } from './scope.ts';
import { parseWordQuery } from './tokenizer.ts';
import {
  BYTES,
  findNearest,
  prepareVectors,
  putVectors,
  type VectorFormat,
  type VectorQuery,
} from './vectors.ts';
import { type StoreAddress, visibleItems } from './visible-items.ts';
import { type StoreWrite, type WriteStep, writeItem } from './write.ts';

/** Query text, query vector, or `undefined` to list. */
export type StoreSearchQuery = string | VectorQuery | undefined;

export type StoreItemRepository = ReturnType<typeof storeItemRepository>;

/** A database and the format of its vectors: bytes, unless `prepareVectors` finds another. */
interface ItemStore {
  readonly db: Db;
  form: VectorFormat;
}

/** The long-term store. Expired items are hidden even before the sweep. */
export function storeItemRepository(db: Db) {
  const store: ItemStore = { db, form: BYTES };
  return {
    ...bind(db, { get, expiry, indexRule, visible: visibleItems }),
    ...bind(db, { namespaces: listNamespaces, expire, findNotIndexedBy }),
    ...bind(store, { search, apply, prepareVectors: prepare, putVectors: addVectors }),
  };
}

/** `refresh` restarts the TTL. */
async function get(
  db: Db,
  { namespace, key }: StoreAddress,
  refresh: boolean,
  visibility?: Visibility,
): Promise<StoreItem | undefined> {
  const row = await db.get(sql`${SELECT}
    where ${and([sql`prefix = ${prefixOf(namespace)} and key = ${key}`, LIVE, isVisible(db.cipher, visibility)])}`);
  if (row && refresh) await refreshTimes(db, [row]);
  return row && itemOf(db.cipher, row);
}

/** When a live item expires; `undefined` if it never does. */
async function expiry(db: Db, { namespace, key }: StoreAddress): Promise<StoreExpiry | undefined> {
  return db.get(sql`select ${EXPIRY} from store_items
    where prefix = ${prefixOf(namespace)} and key = ${key} and ttl_minutes is not null and ${LIVE}`);
}

/** What is indexed of a live item; `null` is the default. */
async function indexRule(db: Db, { namespace, key }: StoreAddress): Promise<IndexRule> {
  const row = await db.get(sql`select ${columns('store_items', 'index_rule')} from store_items
    where prefix = ${prefixOf(namespace)} and key = ${key} and ${LIVE}`);
  return row ? decryptRule(db.cipher, row.index_rule) : null;
}

/** Best match first; without a query, last changed first. Reads only the items of the page. */
async function search(
  { db, form }: ItemStore,
  scope: StoreScope,
  query: StoreSearchQuery,
  refresh: boolean,
  bounds: ReadBounds = {},
): Promise<StoreMatch[]> {
  return read(db, await find(db, form, await applyComparisons(db, scope), query), refresh, bounds);
}

/** Applies all writes in order, in one transaction. Returns `false` and rolls back if a hidden item exists. */
async function apply(
  { db, form }: ItemStore,
  writes: readonly StoreWrite[],
  visibility?: Visibility,
): Promise<boolean> {
  // Serialize now: the caller may modify its objects before the transaction begins.
  const steps = writes.map(({ value, ...write }) =>
    value === null
      ? removal(db.cipher, write, visibility)
      : writeItem(db.cipher, { ...write, value }, form, visibility),
  );
  const isRemoval = writes.every(({ value }) => value === null);
  return db
    .transaction(isRemoval ? 'reclaim' : 'sync', (tx) => allOf(tx, steps))
    .catch((error: unknown) => {
      if (error === HIDDEN_ITEM) return false;
      throw error;
    });
}

/** Deletes up to `limit` expired items; returns how many. */
function expire(db: Db, limit: number): Promise<number> {
  return db.run(
    sql`delete from store_items where item_id in (
      select item_id from store_items where expires_at <= ${NOW} order by expires_at limit ${limit})`,
    'reclaim',
  );
}

/** Prepares vector storage and returns its format, which is part of an index's name. */
async function prepare(store: ItemStore): Promise<VectorFormat> {
  store.form = await prepareVectors(store.db);
  return store.form;
}

/** Up to `limit` live items that are not in this index. */
async function findNotIndexedBy(db: Db, index: string, limit: number): Promise<StoreItemToIndex[]> {
  const rows = await db.all(sql`
    select ${columns('store_items', 'item_id, updated_at, value, index_rule')} from store_items where ${LIVE}
      and (indexed_by is null or indexed_by < ${index} or indexed_by > ${index}) limit ${limit}`);
  return rows.map((row) => ({
    ...row,
    value: decryptValue(db.cipher, row.value),
    index_rule: decryptRule(db.cipher, row.index_rule),
  }));
}

/** Adds vectors to existing items; skips items that changed meanwhile, which have their own. */
async function addVectors(
  store: ItemStore,
  index: string,
  items: readonly (Pick<StoreItemToIndex, 'item_id' | 'updated_at'> & {
    readonly vectors: readonly Float32Array[];
  })[],
): Promise<void> {
  await store.db.transaction('async', async (tx) => {
    for (const { item_id, updated_at, vectors } of items) {
      const same = await tx.run(sql`update store_items set indexed_by = ${index}
        where item_id = ${item_id} and ${UPDATED_AT_MS} = ${updated_at}`);
      if (same === 1) await putVectors(tx, store.form, item_id, vectors);
    }
  });
}

/** An item to embed. */
export interface StoreItemToIndex {
  readonly item_id: number;
  readonly updated_at: string;
  readonly value: Record<string, unknown>;
  readonly index_rule: IndexRule;
}

async function find(
  db: Db,
  form: VectorFormat,
  scope: StoreScope,
  query: StoreSearchQuery,
): Promise<Found[]> {
  if (typeof query === 'object') return findNearest(db, form, query, await applyConditions(db, scope));
  const words = query === undefined ? undefined : parseWordQuery(query);
  if (words?.any.length === 0) return [];
  return words ? findByWords(db, words, scope) : listItems(db, scope);
}

/** At the precision it is read with: PostgreSQL stores microseconds. */
const UPDATED_AT_MS: DialectSql = {
  sqlite: raw('updated_at'),
  postgres: raw("date_trunc('milliseconds', updated_at)"),
};

const HEAD = columns('store_items', 'item_id, namespace, prefix, key, created_at, updated_at, ttl_minutes');
const SELECT = sql`select ${HEAD}, ${columns('store_items', 'value')} from store_items`;
const SELECT_WITHOUT_VALUES = sql`select ${HEAD}, '{}' as ${text('value')} from store_items`;

const EXPIRY = notNull(columns('store_items', 'ttl_minutes, expires_at'));

type ItemRow = RowOf<typeof SELECT>;

export interface ReadBounds {
  /** Bound of the stored values together. */
  readonly max_bytes?: number | undefined;
  /** `false`: values are not read, and are `{}`. */
  readonly has_values?: boolean | undefined;
}

/** In the order of `found`; skips items deleted meanwhile. Throws `InvalidInput` if they are too large for one reply. */
async function read(
  db: Db,
  found: readonly Found[],
  refresh: boolean,
  { max_bytes, has_values = true }: ReadBounds,
): Promise<StoreMatch[]> {
  const items = await boundedRows(db, {
    what: 'items',
    ids: found.map(({ item_id }) => String(item_id)),
    id: 'item_id',
    among: (ids) => isItem(ids.map(Number)),
    select: (condition) => sql`${has_values ? SELECT : SELECT_WITHOUT_VALUES} where ${condition}`,
    from: raw('from store_items'),
    where: [LIVE],
    large: has_values ? [raw('value')] : [raw('key')],
    max_bytes,
    read: (row) => ({ item_id: row.item_id, ttl_minutes: row.ttl_minutes, item: itemOf(db.cipher, row) }),
  });
  if (refresh) await refreshTimes(db, items);
  const byId = new Map(items.map(({ item_id, item }) => [item_id, item]));
  return found.flatMap(({ item_id, score }) => {
    const item = byId.get(item_id);
    return item ? [{ ...item, score }] : [];
  });
}

function itemOf(cipher: Cipher, { namespace, key, value, created_at, updated_at }: ItemRow): StoreItem {
  return {
    namespace: JSON.parse(namespace),
    key,
    value: decryptValue(cipher, value),
    created_at,
    updated_at,
  };
}

/**
 * Async commit: a lost TTL refresh is acceptable. Rows that another transaction holds get their time from that one: to wait
 * for them, two searches that found the same items in another order would deadlock.
 */
async function refreshTimes(
  db: Db,
  rows: readonly Pick<ItemRow, 'item_id' | 'ttl_minutes'>[],
): Promise<void> {
  const going = rows.filter(({ ttl_minutes }) => ttl_minutes !== null).map(({ item_id }) => item_id);
  if (going.length === 0) return;
  await db.run(
    sql`update store_items set expires_at = ${nowPlusMinutes('ttl_minutes')}
      where item_id in (select item_id from store_items
        where ${isItem(going)} and ttl_minutes is not null and ${LIVE} ${SKIP_LOCKED})`,
    'async',
  );
}

/** Rolls back the transaction of a write to a hidden item. */
const HIDDEN_ITEM = new Error('an item is not visible');

async function allOf(tx: Transaction, steps: readonly WriteStep[]): Promise<true> {
  for (const step of steps) if (!(await step(tx))) throw HIDDEN_ITEM;
  return true;
}

/** A hidden item is left alone, like a missing one. */
function removal(
  cipher: Cipher,
  { namespace, key }: Pick<StoreItem, 'namespace' | 'key'>,
  visibility: Visibility | undefined,
): WriteStep {
  const at = sql`prefix = ${prefixOf(namespace)} and key = ${key}`;
  return async (tx) => {
    await tx.run(sql`delete from store_items where ${and([at, isVisible(cipher, visibility)])}`);
    return true;
  };
}

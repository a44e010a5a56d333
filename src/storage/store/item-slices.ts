import { yieldToEventLoop } from '../../core/event-loop.ts';
import { columns, number } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { and, type DialectSql, raw, type Sql, sql } from '../../db/sql.ts';
import { slicesOf } from '../search/byte-slices.ts';
import { decryptValue } from './encryption.ts';
import {
  isComparison,
  isInScope,
  isItem,
  isUnder,
  LAST_CHANGED_FIRST,
  LIVE,
  matchesComparison,
  type StoreScope,
} from './scope.ts';

/** Items whose sizes are read at a time. */
const SIZED_ITEMS = 2000;

/** PostgreSQL knows the stored size without reading the value, too. */
const BYTES: DialectSql = { sqlite: raw('octet_length(value)'), postgres: raw('pg_column_size(value)') };

/**
 * True if a statement of SQLite with the conditions of this scope would parse the values of all items that it looks at,
 * and block the event loop for as long.
 */
export function readsValues({ dialect }: Reader, { conditions, visibility }: StoreScope): boolean {
  return dialect === 'sqlite' && (conditions.length > 0 || visibility?.metadata !== undefined);
}

/**
 * Evaluates range comparisons in process if values are encrypted, because ciphertexts have no order: decrypts every
 * value in scope. Returns an equivalent scope without them.
 */
export async function applyComparisons(reader: Reader, scope: StoreScope): Promise<StoreScope> {
  const comparisons = scope.conditions.filter(isComparison);
  if (!reader.cipher.enabled || comparisons.length === 0) return scope;
  const rest = { ...scope, conditions: scope.conditions.filter((each) => !isComparison(each)) };
  const item_ids: number[] = [];
  for await (const slice of itemSlices(reader, rest)) {
    const rows = await reader.all(sql`
      select ${columns('store_items', 'item_id, value')} from store_items
      where ${and([isItem(slice), isInScope(reader.cipher, rest)])}`);
    for (const { item_id, value } of rows) {
      const decrypted = decryptValue(reader.cipher, value);
      if (comparisons.every((comparison) => matchesComparison(decrypted, comparison))) item_ids.push(item_id);
      await yieldToEventLoop();
    }
  }
  return { ...rest, conditions: [], visibility: undefined, item_ids };
}

/** Evaluates the other conditions in advance, where one statement would block. */
export async function applyConditions(reader: Reader, scope: StoreScope): Promise<StoreScope> {
  if (!readsValues(reader, scope)) return scope;
  const item_ids: number[] = [];
  for await (const slice of itemSlices(reader, scope))
    item_ids.push(...(await matchesAmong(reader, slice, scope)));
  return { ...scope, conditions: [], visibility: undefined, item_ids };
}

/** The first items of the scope, last changed first: its conditions are evaluated until the page is full. */
export async function listBySlices(reader: Reader, scope: StoreScope, few: boolean): Promise<number[]> {
  const wanted = scope.offset + scope.limit;
  const found: number[] = [];
  for await (const slice of orderedSlices(reader, scope, few)) {
    const matching = new Set(await matchesAmong(reader, slice, scope));
    found.push(...slice.filter((item_id) => matching.has(item_id)));
    if (found.length >= wanted) break;
  }
  return found.slice(scope.offset, wanted);
}

/** Those of the items that are in scope, in any order. */
export async function matchesAmong(
  reader: Reader,
  item_ids: readonly number[],
  scope: StoreScope,
): Promise<number[]> {
  const rows = await reader.all(sql`
    select ${columns('store_items', 'item_id')} from store_items
    where ${and([isItem(item_ids), isInScope(reader.cipher, scope)])}`);
  return rows.map(({ item_id }) => item_id);
}

/** The items of the namespace in slices by bytes, in the order of its index; some are not in scope. */
async function* itemSlices(reader: Reader, { namespace_prefix, item_ids }: StoreScope) {
  const within = [isUnder(namespace_prefix), LIVE, item_ids && isItem(item_ids)];
  for (let after: Sql | undefined; ; ) {
    const rows = await reader.all(sql`
      select ${columns('store_items', 'item_id, prefix, key')}, ${BYTES} as ${number('bytes')} from store_items
      where ${and([...within, after])} order by prefix, key limit ${SIZED_ITEMS}`);
    for (const slice of slicesOf(rows)) yield slice.map(({ item_id }) => item_id);
    const last = rows.at(-1);
    if (rows.length < SIZED_ITEMS || !last) return;
    after = sql`(prefix, key) > (${last.prefix}, ${last.key})`;
  }
}

/** The same, last changed first. `few`: read and sort them all, instead of scanning the newest of the whole store. */
async function* orderedSlices(reader: Reader, { namespace_prefix, item_ids }: StoreScope, few: boolean) {
  const under = isUnder(namespace_prefix, few ? undefined : raw('+prefix'));
  const within = [under, LIVE, item_ids && isItem(item_ids)];
  for (let after: Sql | undefined; ; ) {
    const rows = await reader.all(sql`
      select ${columns('store_items', 'item_id, updated_at, prefix, key')}, ${BYTES} as ${number('bytes')}
      from store_items where ${and([...within, after])} order by ${LAST_CHANGED_FIRST} limit ${SIZED_ITEMS}`);
    for (const slice of slicesOf(rows)) yield slice.map(({ item_id }) => item_id);
    const last = rows.at(-1);
    if (rows.length < SIZED_ITEMS || !last) return;
    after = sql`updated_at <= ${last.updated_at}
      and (updated_at < ${last.updated_at} or (prefix, key) > (${last.prefix}, ${last.key}))`;
  }
}

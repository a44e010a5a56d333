import { columns, number } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { and, type DialectSql, type Sql, sql } from '../../db/sql.ts';
import { listBySlices, readsValues } from './item-slices.ts';
import { type Found, isInScope, isUnder, LAST_CHANGED_FIRST, type StoreScope } from './scope.ts';

const ITEM_ID = columns('store_items', 'item_id');

/** Up to this many items are read and sorted instead of scanned in order of change. */
const SORT_UP_TO = 5000;

/**
 * Lists the scope, last changed first. Reads a small namespace whole; for a large one scans the newest items of the
 * whole store until the page is full. Either way alone is slow for a million items (bench/store).
 */
export async function listItems(reader: Reader, scope: StoreScope): Promise<Found[]> {
  const { namespace_prefix, limit, offset } = scope;
  const page = sql`order by ${LAST_CHANGED_FIRST} limit ${limit} offset ${offset}`;
  const few = namespace_prefix.length > 0 && (await hasAtMost(reader, namespace_prefix, SORT_UP_TO));
  if (readsValues(reader, scope)) {
    return (await listBySlices(reader, scope, few)).map((item_id) => ({ item_id, score: null }));
  }
  const rows = await reader.all(
    few
      ? sql`select ${ITEM_ID} from (select item_id, updated_at, prefix, key from store_items
          where ${isInScope(reader.cipher, scope)} ${NOT_MERGED}) found ${page}`
      : sql`select ${ITEM_ID} from store_items where ${isInScope(reader.cipher, { ...scope, namespace_prefix: [] })}
          and ${isUnderUnindexed(namespace_prefix)} ${page}`,
  );
  return rows.map(({ item_id }) => ({ item_id, score: null }));
}

async function hasAtMost(reader: Reader, labels: readonly string[], most: number): Promise<boolean> {
  const row = await reader.get(sql`
    select count(*) as ${number('count')} from (
      select 1 from store_items where ${and([isUnder(labels)])} limit ${most + 1}) few`);
  return (row?.count ?? 0) <= most;
}

/** Optimization fence: keeps the outer `order by` from choosing an index of the inner query. */
const NOT_MERGED: DialectSql = { sqlite: sql`limit -1 offset 0`, postgres: sql`offset 0` };

/** Same rows as `isUnder`, but hidden from the index on `prefix`. */
function isUnderUnindexed(labels: readonly string[]): Sql {
  const under = isUnder(labels, { sqlite: sql`+prefix`, postgres: sql`(prefix || '')` });
  return and([under]);
}

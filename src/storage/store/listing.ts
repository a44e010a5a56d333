import type { Reader } from '../db.ts';
import { all, type DialectSql, type Sql, sql } from '../sql.ts';
import { isUnder } from './rows.ts';
import { type Found, isInScope, LAST_CHANGED_FIRST, type StoreScope } from './scope.ts';

/** Items that are read and sorted rather than walked through in the order of their change. */
const FEW = 5000;

/**
 * Items of the scope, the last changed first. A small namespace is read whole; in a large one the newest items of all
 * are walked through until enough lie in it. Each way alone is slow for a million items (bench/store).
 */
export async function listItems(reader: Reader, scope: StoreScope): Promise<Found[]> {
  const { namespace_prefix, limit, offset } = scope;
  const page = sql`order by ${LAST_CHANGED_FIRST} limit ${limit} offset ${offset}`;
  const few = namespace_prefix.length > 0 && (await hasAtMost(reader, namespace_prefix, FEW));
  const rows = await reader.all<{ item_id: number }>(
    few
      ? sql`select item_id from (select item_id, updated_at, prefix, key from store_items
          where ${isInScope(reader.cipher, scope)} ${NOT_MERGED}) found ${page}`
      : sql`select item_id from store_items where ${isInScope(reader.cipher, { ...scope, namespace_prefix: [] })}
          and ${walkedUnder(namespace_prefix)} ${page}`,
  );
  return rows.map(({ item_id }) => ({ item_id, score: null }));
}

async function hasAtMost(reader: Reader, labels: readonly string[], most: number): Promise<boolean> {
  const row = await reader.get<{ count: number }>(sql`
    select count(*) as count from (
      select 1 from store_items where ${all([isUnder(labels)])} limit ${most + 1}) few`);
  return (row?.count ?? 0) <= most;
}

/** Keeps an inner query apart, so that the order outside of it chooses no index inside. */
const NOT_MERGED: DialectSql = { sqlite: sql`limit -1 offset 0`, postgres: sql`offset 0` };

/** The same rows as `isUnder`, but no reason to begin with the namespace. */
function walkedUnder(labels: readonly string[]): Sql {
  const under = isUnder(labels, { sqlite: sql`+prefix`, postgres: sql`(prefix || '')` });
  return all([under]);
}

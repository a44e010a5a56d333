import { toJson } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { and, type DialectSql, sql } from '../../db/sql.ts';
import { isUnder, isVisible, LIVE, prefixOf, type StoreScope } from './scope.ts';

export interface StoreAddress {
  readonly namespace: readonly string[];
  readonly key: string;
}

/** Which of these items exist, are below the prefix and visible. */
export async function visibleItems(
  reader: Reader,
  items: readonly StoreAddress[],
  { namespace_prefix, visibility }: Pick<StoreScope, 'namespace_prefix' | 'visibility'>,
): Promise<StoreAddress[]> {
  const wanted = toJson(items.map(({ namespace, key }) => [prefixOf(namespace), key]));
  const addresses: DialectSql = {
    sqlite: sql`select value ->> 0, value ->> 1 from json_each(${wanted})`,
    postgres: sql`select value ->> 0, value ->> 1 from json_array_elements(${wanted}::json)`,
  };
  const rows = await reader.all(sql`
    select ${columns('store_items', 'namespace, key')} from store_items
    where ${and([
      sql`(prefix, key) in (${addresses})`,
      isUnder(namespace_prefix),
      LIVE,
      isVisible(reader.cipher, visibility),
    ])}`);
  return rows.map(({ namespace, key }) => ({ namespace: JSON.parse(namespace), key }));
}

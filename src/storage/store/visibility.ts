import { isObject } from '../../core/json.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { contains } from '../../db/json.ts';
import type { MetadataFilter } from '../../db/metadata-filter.ts';
import { and, or, raw, type Sql, sql } from '../../db/sql.ts';
import { memberCondition } from './encryption.ts';

/** Fields that access filters match: `namespace`, `key`, and those of the value (contract §13). */
export interface StoreSubject {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: Record<string, unknown>;
}

/** Filter as a SQL condition on `store_items`. */
export function visibleItem(cipher: Cipher, filter: MetadataFilter): Sql {
  if ('all' in filter) return and(filter.all.map((each) => visibleItem(cipher, each)));
  if ('any' in filter) return or(filter.any.map((each) => visibleItem(cipher, each)));
  return and(Object.entries(filter.contains).map(([field, wanted]) => member(cipher, field, wanted)));
}

function member(cipher: Cipher, field: string, wanted: unknown): Sql {
  if (field === 'key') return typeof wanted === 'string' ? sql`store_items.key = ${wanted}` : raw('false');
  if (field !== 'namespace') {
    const has = (name: string, value: unknown) => contains('store_items.value', { [name]: value });
    return sql`${memberCondition(cipher, field, wanted, has)}`;
  }
  // In PostgreSQL a list also contains a plain value, which would turn `$eq` into `$contains`.
  return Array.isArray(wanted) ? sql`${contains('store_items.namespace', wanted)}` : raw('false');
}

/** The same in memory, for an item that is not stored yet. Lists compare by their plain values. */
export function itemPasses(item: StoreSubject, filter: MetadataFilter): boolean {
  if ('all' in filter) return filter.all.every((each) => itemPasses(item, each));
  if ('any' in filter) return filter.any.some((each) => itemPasses(item, each));
  const subject: Record<string, unknown> = { ...item.value, namespace: item.namespace, key: item.key };
  return Object.entries(filter.contains).every(
    ([field, wanted]) => Object.hasOwn(subject, field) && has(subject[field], wanted),
  );
}

function has(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(value) && wanted.every((each) => value.includes(each));
  return !isObject(wanted) && value === wanted;
}

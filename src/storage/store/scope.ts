import type { Cipher } from '../encryption/cipher.ts';
import { type COMPARISONS, fieldCompares, fieldEquals } from '../json-field.ts';
import { all, type DialectSql, raw, type Sql, sql } from '../sql.ts';
import type { Visibility } from '../visibility.ts';
import { isItem, isUnder, LIVE } from './rows.ts';
import { onMember } from './sealed-value.ts';
import { visibleItem } from './visibility.ts';

export type StoreCondition = StoreEquality | StoreComparison;

interface StoreEquality {
  readonly field: string;
  readonly is: 'eq' | 'ne';
  readonly value: unknown;
}

/** Of values of the same type; text in the order of its bytes. */
export interface StoreComparison {
  readonly field: string;
  readonly is: keyof typeof COMPARISONS;
  readonly value: number | string;
}

/** Which items a search is about, and which page of them. */
export interface StoreScope {
  /** `['a']` finds `['a']` and `['a', 'b']`, never `['ab']`; `[]` finds all. */
  readonly namespace_prefix: readonly string[];
  /** All must hold, of the value's own fields. */
  readonly conditions: readonly StoreCondition[];
  /** Undefined: all. */
  readonly visibility?: Visibility | undefined;
  /** Only these, where some conditions were looked at before. */
  readonly item_ids?: readonly number[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** An item that was found, not read yet. */
export interface Found {
  readonly item_id: number;
  /** How well it fits the query; null without one. */
  readonly score: number | null;
}

/** Holds for live items of the scope. The only place where namespace and filter become SQL: no search cuts before it. */
export function isInScope(cipher: Cipher, scope: StoreScope): Sql {
  const { namespace_prefix, conditions, visibility, item_ids } = scope;
  return all([
    item_ids && isItem(item_ids, raw('store_items.item_id')),
    isUnder(namespace_prefix),
    LIVE,
    isVisible(cipher, visibility),
    ...conditions.map((each) => condition(cipher, each)),
  ]);
}

/** An item has no metadata: rules speak of what it is. Nor is it any thread or assistant, which ids speak of. */
export function isVisible(cipher: Cipher, visibility: Visibility | undefined): Sql | undefined {
  if (!visibility) return undefined;
  const { metadata, ids } = visibility;
  return all([metadata && visibleItem(cipher, metadata), ids && raw('false')]);
}

/** Items that fit a query equally well: the last changed first. */
export const LAST_CHANGED_FIRST = sql`updated_at desc, prefix, key`;

function condition(cipher: Cipher, { field, is, value }: StoreCondition): Sql | DialectSql {
  const equals = (name: string, wanted: unknown) => fieldEquals('store_items.value', name, wanted);
  switch (is) {
    case 'eq':
      return onMember(cipher, field, value, equals);
    case 'ne':
      return sql`not ${onMember(cipher, field, value, equals)}`;
    default:
      // With encryption none is left (`compared.ts`).
      return fieldCompares('store_items.value', field, is, value);
  }
}

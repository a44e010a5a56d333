import { fieldCompares, fieldEquals } from '../json-field.ts';
import { all, type DialectSql, raw, type Sql, sql } from '../sql.ts';
import type { Visibility } from '../visibility.ts';
import { isUnder, LIVE } from './rows.ts';
import { visibleItem } from './visibility.ts';

export type StoreCondition =
  | { readonly field: string; readonly is: 'eq' | 'ne'; readonly value: unknown }
  | { readonly field: string; readonly is: 'gt' | 'gte' | 'lt' | 'lte'; readonly value: number | string };

/** Which items a search is about, and which page of them. */
export interface StoreScope {
  /** `['a']` finds `['a']` and `['a', 'b']`, never `['ab']`; `[]` finds all. */
  readonly namespace_prefix: readonly string[];
  /** All must hold, of the value's own fields. */
  readonly conditions: readonly StoreCondition[];
  /** Undefined: all. */
  readonly visibility?: Visibility | undefined;
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
export function isInScope({ namespace_prefix, conditions, visibility }: StoreScope): Sql {
  return all([isUnder(namespace_prefix), LIVE, isVisible(visibility), ...conditions.map(condition)]);
}

/** An item has no metadata: rules speak of what it is. Nor is it any thread or assistant, which ids speak of. */
export function isVisible(visibility: Visibility | undefined): Sql | undefined {
  if (!visibility) return undefined;
  const { metadata, ids } = visibility;
  return all([metadata && visibleItem(metadata), ids && raw('false')]);
}

/** Items that fit a query equally well: the last changed first. */
export const LAST_CHANGED_FIRST = sql`updated_at desc, prefix, key`;

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

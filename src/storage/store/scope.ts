import type { Cipher } from '../../db/encryption/cipher.ts';
import { type COMPARISONS, fieldCompares, fieldEquals, isOneOfNumbers } from '../../db/json.ts';
import { and, type DialectSql, raw, type Sql, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import type { Visibility } from '../access/visibility.ts';
import { memberCondition } from './encryption.ts';
import { visibleItem } from './visibility.ts';

/** Not expired. */
export const LIVE: Sql = sql`(expires_at is null or expires_at > ${NOW})`;

/** Each label followed by a dot, which labels cannot contain: `['a', 'b']` is `a.b.`, with the prefix `a.`. */
export function prefixOf(namespace: readonly string[]): string {
  return namespace.map((label) => `${label}.`).join('');
}

/** Exclusive upper bound of a prefix range: the slash is the next character after the dot. */
export function afterPrefix(prefix: string): string {
  return `${prefix.slice(0, -1)}/`;
}

/** Items below these labels: a range of the index on `prefix`. */
export function isUnder(
  labels: readonly string[],
  column: Sql | DialectSql = raw('prefix'),
): Sql | undefined {
  if (labels.length === 0) return undefined;
  const from = prefixOf(labels);
  return sql`${column} >= ${from} and ${column} < ${afterPrefix(from)}`;
}

/** `item_id in (…)` with one placeholder. */
export function isItem(item_ids: readonly number[], column = raw('item_id')): Sql {
  return isOneOfNumbers(column, item_ids);
}

export type StoreCondition = StoreEquality | StoreComparison;

interface StoreEquality {
  readonly field: string;
  readonly is: 'eq' | 'ne';
  readonly value: unknown;
}

/** Compares values of the same type; text in byte order. */
export interface StoreComparison {
  readonly field: string;
  readonly is: keyof typeof COMPARISONS;
  readonly value: number | string;
}

/** Scope and page of a search. */
export interface StoreScope {
  /** `['a']` matches `['a']` and `['a', 'b']`, never `['ab']`; `[]` matches all. */
  readonly namespace_prefix: readonly string[];
  /** All must hold for the value's fields. */
  readonly conditions: readonly StoreCondition[];
  /** `undefined` means all. */
  readonly visibility?: Visibility | undefined;
  /** Only these items, if some conditions were evaluated in advance. */
  readonly item_ids?: readonly number[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A search hit, not read yet. */
export interface Found {
  readonly item_id: number;
  /** Relevance; `null` without a query. */
  readonly score: number | null;
}

/** Live items in scope. The only place that turns namespace and filter into SQL: no search truncates before it. */
export function isInScope(cipher: Cipher, scope: StoreScope): Sql {
  const { namespace_prefix, conditions, visibility, item_ids } = scope;
  return and([
    item_ids && isItem(item_ids, raw('store_items.item_id')),
    isUnder(namespace_prefix),
    LIVE,
    isVisible(cipher, visibility),
    ...conditions.map((each) => condition(cipher, each)),
  ]);
}

/** Items have no metadata: rules filter on namespace, key and value. Ids, of other resources, match none. */
export function isVisible(cipher: Cipher, visibility: Visibility | undefined): Sql | undefined {
  if (!visibility) return undefined;
  const { metadata, ids } = visibility;
  return and([metadata && visibleItem(cipher, metadata), ids && raw('false')]);
}

/** Tie-breaker of equal scores: last changed first. */
export const LAST_CHANGED_FIRST = sql`updated_at desc, prefix, key`;

function condition(cipher: Cipher, { field, is, value }: StoreCondition): Sql | DialectSql {
  const equals = (name: string, wanted: unknown) => fieldEquals('store_items.value', name, wanted);
  switch (is) {
    case 'eq':
      return memberCondition(cipher, field, value, equals);
    case 'ne':
      return sql`not ${memberCondition(cipher, field, value, equals)}`;
    default:
      // With encryption `applyComparisons` has removed these.
      return fieldCompares('store_items.value', field, is, value);
  }
}

export function isComparison(condition: StoreCondition): condition is StoreComparison {
  return condition.is !== 'eq' && condition.is !== 'ne';
}

export function matchesComparison(
  value: Record<string, unknown>,
  { field, is, value: wanted }: StoreComparison,
): boolean {
  const order = Object.hasOwn(value, field) ? compareValues(value[field], wanted) : undefined;
  if (order === undefined) return false;
  switch (is) {
    case 'gt':
      return order > 0;
    case 'gte':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'lte':
      return order <= 0;
  }
}

/** `undefined` for values of different types. */
function compareValues(one: unknown, other: number | string): number | undefined {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  if (typeof one !== 'string' || typeof other !== 'string') return undefined;
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

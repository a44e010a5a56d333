import { toJson } from '../../core/json.ts';
import type { Reader } from '../../db/db.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { type COMPARISONS, fieldCompares, fieldEquals } from '../../db/json.ts';
import { and, type DialectSql, raw, type Sql, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import type { Visibility } from '../access/visibility.ts';
import { decryptValue, memberCondition } from './encryption.ts';
import { visibleItem } from './visibility.ts';

/** Not expired. */
export const LIVE: Sql = sql`(expires_at is null or expires_at > ${NOW})`;

/** Each label with a dot behind it, which no label has inside: `['a', 'b']` is `a.b.`, and `a.` begins it. */
export function prefixOf(namespace: readonly string[]): string {
  return namespace.map((label) => `${label}.`).join('');
}

/** Comes right after everything that begins with the prefix: the slash is the next character after the dot. */
export function afterPrefix(prefix: string): string {
  return `${prefix.slice(0, -1)}/`;
}

/** True for items of a namespace that begins with these labels: a range of the index on `prefix`. */
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
  const text = toJson(item_ids);
  const elements: DialectSql = {
    sqlite: sql`select value from json_each(${text})`,
    postgres: sql`select value::bigint from json_array_elements_text(${text}::json)`,
  };
  return sql`${column} in (${elements})`;
}

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
  return and([
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
  return and([metadata && visibleItem(cipher, metadata), ids && raw('false')]);
}

/** Items that fit a query equally well: the last changed first. */
export const LAST_CHANGED_FIRST = sql`updated_at desc, prefix, key`;

function condition(cipher: Cipher, { field, is, value }: StoreCondition): Sql | DialectSql {
  const equals = (name: string, wanted: unknown) => fieldEquals('store_items.value', name, wanted);
  switch (is) {
    case 'eq':
      return memberCondition(cipher, field, value, equals);
    case 'ne':
      return sql`not ${memberCondition(cipher, field, value, equals)}`;
    default:
      // With encryption none is left (`compared.ts`).
      return fieldCompares('store_items.value', field, is, value);
  }
}

/** Values that are opened at once, and between which the process does other things. */
const BATCH = 200;

/**
 * A scope of the same items in which the database need not tell what is more and what less, which it cannot of sealed
 * values: they are opened and compared here, every one of the scope.
 */
export async function applyComparisons(reader: Reader, scope: StoreScope): Promise<StoreScope> {
  const comparisons = scope.conditions.filter(isComparison);
  if (!reader.cipher.enabled || comparisons.length === 0) return scope;
  const rest = { ...scope, conditions: scope.conditions.filter((each) => !isComparison(each)) };
  const candidates = await reader.all<{ item_id: number }>(
    sql`select item_id from store_items where ${isInScope(reader.cipher, rest)}`,
  );
  const item_ids: number[] = [];
  for (let start = 0; start < candidates.length; start += BATCH) {
    const rows = await reader.all<{ item_id: number; value: string }>(sql`
      select item_id, value from store_items
      where ${isItem(candidates.slice(start, start + BATCH).map(({ item_id }) => item_id))}`);
    for (const { item_id, value } of rows) {
      const opened = decryptValue(reader.cipher, value);
      if (comparisons.every((comparison) => matchesComparison(opened, comparison))) item_ids.push(item_id);
    }
  }
  return { ...rest, item_ids };
}

function isComparison(condition: StoreCondition): condition is StoreComparison {
  return condition.is !== 'eq' && condition.is !== 'ne';
}

function matchesComparison(
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

/** Undefined for values of different types. */
function compareValues(one: unknown, other: number | string): number | undefined {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  if (typeof one !== 'string' || typeof other !== 'string') return undefined;
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

import type { Reader } from '../db.ts';
import { sql } from '../sql.ts';
import { isItem } from './rows.ts';
import { isInScope, type StoreComparison, type StoreCondition, type StoreScope } from './scope.ts';
import { openedValue } from './sealed-value.ts';

/** Values that are opened at once, and between which the process does other things. */
const BATCH = 200;

/**
 * A scope of the same items in which the database need not tell what is more and what less, which it cannot of sealed
 * values: they are opened and compared here, every one of the scope.
 */
export async function compared(reader: Reader, scope: StoreScope): Promise<StoreScope> {
  const comparisons = scope.conditions.filter(isComparison);
  if (!reader.cipher.on || comparisons.length === 0) return scope;
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
      const opened = openedValue(reader.cipher, value);
      if (comparisons.every((comparison) => holds(opened, comparison))) item_ids.push(item_id);
    }
  }
  return { ...rest, item_ids };
}

function isComparison(condition: StoreCondition): condition is StoreComparison {
  return condition.is !== 'eq' && condition.is !== 'ne';
}

function holds(value: Record<string, unknown>, { field, is, value: wanted }: StoreComparison): boolean {
  const order = Object.hasOwn(value, field) ? orderOf(value[field], wanted) : undefined;
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
function orderOf(one: unknown, other: number | string): number | undefined {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  if (typeof one !== 'string' || typeof other !== 'string') return undefined;
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

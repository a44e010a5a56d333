import type { Item } from './store-queries.ts';

const MAX_COLUMNS = 6;

/** Fields with their own column: the most frequent ones. */
export function columnsOf(items: readonly Item[]): string[] {
  const counts = new Map<string, number>();
  for (const { preview } of items)
    for (const field of Object.keys(preview.fields)) counts.set(field, (counts.get(field) ?? 0) + 1);
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_COLUMNS);
  return most.map(([field]) => field);
}

/** The fields of an item without a column, as text. */
export function othersOf({ preview }: Item, columns: readonly string[]): string {
  const names = Object.keys(preview.fields).filter((field) => !columns.includes(field));
  return [...names, ...(preview.omitted > 0 ? [`${preview.omitted} more`] : [])].join(', ');
}

/** A page of a list with the values of its pagination headers (CONTRACT §1 "Pagination headers"). */
export interface Page<T> {
  readonly items: T[];
  /** Offset of the next page; `undefined` on the last one. */
  readonly next: number | undefined;
  /** Lower bound of the row count, not the exact count: clients only check whether more rows follow. */
  readonly total: number;
}

/** Builds a page from rows read with `limit + 1`: the extra row signals a next page. */
export function pageOf<T>(rows: readonly T[], limit: number, offset: number): Page<T> {
  if (rows.length <= limit) return { items: [...rows], next: undefined, total: offset + rows.length };
  const next = offset + limit;
  return { items: rows.slice(0, limit), next, total: next + 1 };
}

/** Projects a row to the selected fields that it has; all fields without a selection. */
export function pickFields<T extends object>(row: T, select: readonly string[] | undefined): Partial<T> {
  if (!select) return row;
  const entries = select.filter((field) => Object.hasOwn(row, field));
  return Object.fromEntries(entries.map((field) => [field, row[field as keyof T]])) as Partial<T>;
}

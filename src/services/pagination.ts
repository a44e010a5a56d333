/** A slice of a list with what the pagination headers say about the rest (CONTRACT §1 "Pagination headers"). */
export interface Page<T> {
  readonly items: T[];
  /** The offset of the next page; undefined on the last one. */
  readonly next: number | undefined;
  /** A lower bound of the number of rows, not their count: clients only ask whether more will come. */
  readonly total: number;
}

/** Makes a page of rows that were read with `limit + 1`: the row too many tells that there is a next page. */
export function pageOf<T>(rows: readonly T[], limit: number, offset: number): Page<T> {
  if (rows.length <= limit) return { items: [...rows], next: undefined, total: offset + rows.length };
  const next = offset + limit;
  return { items: rows.slice(0, limit), next, total: next + 1 };
}

/** The row with only the selected fields that it has; all of them without a selection. */
export function pickFields<T extends object>(row: T, select: readonly string[] | undefined): Partial<T> {
  if (!select) return row;
  const entries = select.filter((field) => Object.hasOwn(row, field));
  return Object.fromEntries(entries.map((field) => [field, row[field as keyof T]])) as Partial<T>;
}

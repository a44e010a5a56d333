/** Projects a row to the selected fields that it has; all fields without a selection. */
export function pickFields<T extends object>(row: T, select: readonly string[] | undefined): Partial<T> {
  if (!select) return row;
  const entries = select.filter((field) => Object.hasOwn(row, field));
  return Object.fromEntries(entries.map((field) => [field, row[field as keyof T]])) as Partial<T>;
}

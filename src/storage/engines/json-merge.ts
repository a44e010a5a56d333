/** SQLite's stand-in for PostgreSQL's `jsonb || jsonb` of two objects: shallow, and a null stays a null. */
export function jsonMerge(column: unknown, patch: unknown): string {
  return JSON.stringify({ ...JSON.parse(String(column)), ...JSON.parse(String(patch)) });
}

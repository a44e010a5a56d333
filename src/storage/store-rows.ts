import { type DialectSql, type Sql, sql } from './sql.ts';
import { NOW } from './time.ts';

/** Not expired. */
export const LIVE: Sql = sql`(expires_at is null or expires_at > ${NOW})`;

/** Each label with a dot behind it, which no label has inside: `['a', 'b']` is `a.b.`, and `a.` begins it. */
export function prefixOf(namespace: readonly string[]): string {
  return namespace.map((label) => `${label}.`).join('');
}

/** True for items of a namespace that begins with these labels: a range of the primary key. */
export function isUnder(labels: readonly string[]): Sql | DialectSql | undefined {
  if (labels.length === 0) return undefined;
  const from = prefixOf(labels);
  // The slash comes right after the dot.
  return sql`prefix >= ${from} and prefix < ${`${from.slice(0, -1)}/`}`;
}

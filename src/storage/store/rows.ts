import { toJson } from '../../core/json.ts';
import { type DialectSql, raw, type Sql, sql } from '../sql.ts';
import { NOW } from '../time.ts';

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

import { canonicalJson } from './json.ts';
import { type DialectSql, list, raw, sql } from './sql.ts';

export const COMPARISONS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/**
 * True when the member `field` of the object in `column` equals `wanted`, deeply. Null equals a missing one too.
 * On SQLite objects and lists are equal when their texts are, so the column must hold `canonicalJson`; and it must be
 * named with its table, for the rows of a JSON object have a column `value` too.
 */
export function fieldEquals(column: string, field: string, wanted: unknown): DialectSql {
  if (wanted === null) {
    return {
      sqlite: sql`not exists (select 1 from json_each(${raw(column)}) f where f.key = ${field} and f.type <> 'null')`,
      postgres: sql`coalesce(${raw(column)} -> ${field}::text, 'null') = 'null'::jsonb`,
    };
  }
  const plain = typeof wanted === 'object' ? canonicalJson(wanted) : (wanted as string | number | boolean);
  return {
    sqlite: sql`exists (select 1 from json_each(${raw(column)}) f
      where f.key = ${field} and f.type in ${list(sqliteTypes(wanted))} and f.value = ${plain})`,
    postgres: sql`coalesce(${raw(column)} -> ${field}::text = ${canonicalJson(wanted)}::jsonb, false)`,
  };
}

/** True when the member is of the same type as `wanted` and comes after or before it; text in the order of its bytes. */
export function fieldCompares(
  column: string,
  field: string,
  comparison: keyof typeof COMPARISONS,
  wanted: number | string,
): DialectSql {
  const operator = raw(COMPARISONS[comparison]);
  const member = sql`${raw(column)} -> ${field}::text`;
  const type = typeof wanted;
  return {
    sqlite: sql`exists (select 1 from json_each(${raw(column)}) f
      where f.key = ${field} and f.type in ${list(sqliteTypes(wanted))} and f.value ${operator} ${wanted})`,
    // The conversion fails on any other type, and only `case` is sure to look at the type first.
    postgres:
      typeof wanted === 'number'
        ? sql`case when jsonb_typeof(${member}) = ${type} then (${member})::float8 ${operator} ${wanted}::float8
            else false end`
        : sql`(jsonb_typeof(${member}) = ${type}
            and ${raw(column)} ->> ${field}::text collate "C" ${operator} ${wanted}::text)`,
  };
}

/** What SQLite calls the type of a JSON value. */
function sqliteTypes(value: unknown): string[] {
  if (typeof value === 'number') return ['integer', 'real'];
  if (typeof value === 'string') return ['text'];
  if (typeof value === 'boolean') return [String(value)];
  return [Array.isArray(value) ? 'array' : 'object'];
}

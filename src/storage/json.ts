import { type DialectSql, raw, sql } from './sql.ts';

/**
 * True when the JSON in `column` contains `wanted` as PostgreSQL's `@>` has it: nested objects in part, arrays as
 * subsets in any order, `1` equal to `1.0`, an absent key not equal to null (CONTRACT §2.2).
 * SQLite calls the function `json_contains` that the engine registers.
 */
export function contains(column: string, wanted: unknown): DialectSql {
  const text = JSON.stringify(wanted);
  return {
    sqlite: sql`json_contains(${raw(column)}, ${text})`,
    postgres: sql`${raw(column)}::jsonb @> ${text}::jsonb`,
  };
}

/** Parses the JSON columns of a row, in place; both engines deliver them as text. */
export function decode<Row extends object>(row: Row, columns: readonly (keyof Row)[]): Row {
  for (const column of columns) {
    const text = row[column];
    if (typeof text === 'string') row[column] = JSON.parse(text);
  }
  return row;
}

import { isObject, toJson } from '../core/json.ts';
import { leavesOf } from './json-leaves.ts';
import { all, type DialectSql, raw, type Sql, sql } from './sql.ts';

/**
 * True when the JSON in `column` contains `wanted` as PostgreSQL's `@>` has it: nested objects in part, arrays as
 * subsets in any order, `1` equal to `1.0`, an absent key not equal to null (CONTRACT §2.2).
 * SQLite compares plain values by itself, in a third of the time, for else it calls the function `json_contains` that
 * the engine registers; the text in the column must be from `toJson`.
 */
export function contains(column: string, wanted: unknown): DialectSql {
  const text = toJson(wanted);
  const leaves = leavesOf(JSON.parse(text));
  return {
    sqlite: leaves
      ? sql`(${all(leaves.map(({ path, json }) => sql`${raw(column)} -> ${path} is ${json}`))})`
      : sql`json_contains(${raw(column)}, ${text})`,
    postgres: sql`${raw(column)}::jsonb @> ${text}::jsonb`,
  };
}

/** The object in `column` with the keys of `patch` replaced; a null stays. SQLite: the engine's `json_merge`. */
export function merged(column: string, patch: Record<string, unknown>): DialectSql {
  const text = toJson(patch);
  return {
    sqlite: sql`json_merge(${raw(column)}, ${text})`,
    postgres: sql`(${raw(column)}::jsonb || ${text}::jsonb)`,
  };
}

/**
 * `column in (…)` for ids, with one placeholder: engines limit their number, and each number is another text.
 * PostgreSQL sees how many there are in an array, and in nothing else.
 */
export function isOneOf(column: string, ids: readonly string[]): Sql {
  const condition: DialectSql = {
    sqlite: sql`${raw(column)} in (select value from json_each(${toJson(ids)}))`,
    postgres: sql`${raw(column)} = any (${`{${ids.join(',')}}`}::uuid[])`,
  };
  return sql`${condition}`;
}

/** Parses the JSON columns of a row, in place; both engines deliver them as text. */
export function decode<Row extends object>(row: Row, columns: readonly (keyof Row)[]): Row {
  for (const column of columns) {
    const text = row[column];
    if (typeof text === 'string') row[column] = JSON.parse(text);
  }
  return row;
}

/** JSON text that is the same for equal values: keys in order, as PostgreSQL's jsonb keeps them in an order of its own. */
export function canonicalJson(value: unknown): string {
  return toJson(JSON.parse(JSON.stringify(value ?? null, inOrder)));
}

function inOrder(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The members of a JSON object as rows of `key` and `value`, under `alias`. A number's value is a number on SQLite. */
export function eachText(column: string, alias: string): DialectSql {
  return {
    sqlite: raw(`json_each(${column}) ${alias}`),
    postgres: raw(`json_each_text(${column}::json) ${alias}(key, value)`),
  };
}

/**
 * The elements of a JSON list as rows of `value`, under `alias`; objects and lists for `->>`. PostgreSQL is told how
 * many they are: it takes any list for 100, and from that may think a small query worth compiling.
 */
export function eachElement(list: readonly unknown[], alias: string): DialectSql {
  const text = toJson(list);
  return {
    sqlite: sql`json_each(${text}) ${raw(alias)}`,
    postgres: sql`(select value from json_array_elements(${text}::json) limit ${list.length}) ${raw(alias)}`,
  };
}

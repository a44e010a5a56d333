import { isObject, toJson } from '../core/json.ts';
import { and, type DialectSql, list, raw, type Sql, sql } from './sql.ts';

/**
 * Containment: the JSON in `column` contains `wanted` as by PostgreSQL's `@>`: nested objects in part, arrays as
 * subsets in any order, `1` equal to `1.0`, an absent key not equal to null (contract §2.2).
 * SQLite compares scalar leaves natively, in a third of the time of the engine's function `json_contains`; the text in
 * the column must be from `toJson`.
 */
export function contains(column: string, wanted: unknown): DialectSql {
  const text = toJson(wanted);
  const leaves = scalarLeaves(JSON.parse(text));
  return {
    sqlite: leaves
      ? sql`(${and(leaves.map(({ path, json }) => sql`${raw(column)} -> ${path} is ${json}`))})`
      : sql`json_contains(${raw(column)}, ${text})`,
    postgres: sql`${raw(column)}::jsonb @> ${text}::jsonb`,
  };
}

/** Shallow merge of `patch` into the object in `column`; null stays null. SQLite: the engine's `json_merge`. */
export function mergeJson(column: string, patch: Record<string, unknown>): DialectSql {
  const text = toJson(patch);
  return {
    sqlite: sql`json_merge(${raw(column)}, ${text})`,
    postgres: sql`(${raw(column)}::jsonb || ${text}::jsonb)`,
  };
}

/**
 * `column in (…)` for ids, with one placeholder: engines limit their number, and each number is another statement text.
 * PostgreSQL's planner sees the number of ids only in an array.
 */
export function isOneOf(column: string, ids: readonly string[]): Sql {
  const condition: DialectSql = {
    sqlite: sql`${raw(column)} in (select value from json_each(${toJson(ids)}))`,
    postgres: sql`${raw(column)} = any (${`{${ids.join(',')}}`}::uuid[])`,
  };
  return sql`${condition}`;
}

/** The same for numbers. */
export function isOneOfNumbers(column: Sql, numbers: readonly number[]): Sql {
  return isOneOfValues(column, numbers, 'bigint');
}

/** The same for texts that are no ids. */
export function isOneOfTexts(column: Sql, texts: readonly string[]): Sql {
  return isOneOfValues(column, texts, 'text');
}

function isOneOfValues(column: Sql, values: readonly unknown[], type: 'bigint' | 'text'): Sql {
  const text = toJson(values);
  const elements: DialectSql = {
    sqlite: sql`select value from json_each(${text})`,
    postgres: sql`select value::${raw(type)} from json_array_elements_text(${text}::json)`,
  };
  return sql`${column} in (${elements})`;
}

/** JSON as both engines return it, and the type of what it parses to. */
export type JsonText<Document = unknown> = string & { readonly [DOCUMENT]?: Document };
declare const DOCUMENT: unique symbol;

/** A row with the JSON columns `Names` parsed. */
export type Parsed<Row, Names extends keyof Row> = {
  [Name in keyof Row]: Name extends Names ? ParsedColumn<Row[Name]> : Row[Name];
};
type ParsedColumn<Value> = Value extends JsonText<infer Document> ? Document : Value;

/** Parses JSON columns of a row, in place. Null stays null. */
export function parseJsonColumns<Row extends object, Names extends keyof Row>(
  row: Row,
  columns: readonly Names[],
): Parsed<Row, Names> {
  for (const column of columns) {
    const text = row[column];
    if (typeof text === 'string') row[column] = JSON.parse(text);
  }
  return row as Parsed<Row, Names>;
}

/** Canonical JSON text, the same for equal values: keys are sorted, as PostgreSQL's jsonb has an order of its own. */
export function canonicalJson(value: unknown): string {
  return toJson(JSON.parse(JSON.stringify(value ?? null, sortKeys)));
}

function sortKeys(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The members of a JSON object as rows of `key` and `value`, under `alias`. SQLite returns a number as a number. */
export function jsonEachText(column: string, alias: string): DialectSql {
  return {
    sqlite: raw(`json_each(${column}) ${alias}`),
    postgres: raw(`json_each_text(${column}::json) ${alias}(key, value)`),
  };
}

/**
 * The elements of a JSON list as rows of `value`, under `alias`; objects and lists for `->>`. The `limit` gives
 * PostgreSQL the row count: it assumes 100 for any list, and may then JIT-compile a small query.
 */
export function jsonElements(list: readonly unknown[], alias: string): DialectSql {
  const text = toJson(list);
  return {
    sqlite: sql`json_each(${text}) ${raw(alias)}`,
    postgres: sql`(select value from json_array_elements(${text}::json) limit ${list.length}) ${raw(alias)}`,
  };
}

/** A scalar in a JSON document: its path in SQLite's JSON syntax, and its JSON text. */
export interface Leaf {
  readonly path: string;
  readonly json: string;
}

/** More comparisons cost as much as one `json_contains`. */
const MAX_LEAVES = 4;

/**
 * The scalars of a document made only of scalars and of objects with plain names: another document contains it if it
 * has the same scalars at the same paths. Returns `undefined` for any other document.
 */
function scalarLeaves(document: unknown): Leaf[] | undefined {
  const leaves = isObject(document) ? leavesBelow('$', document) : undefined;
  return leaves && leaves.length <= MAX_LEAVES ? leaves : undefined;
}

function leavesBelow(path: string, object: Record<string, unknown>): Leaf[] | undefined {
  const members = Object.entries(object);
  if (members.length === 0) return undefined;
  const leaves = members.map(([name, value]) => leavesAt(path, name, value));
  return leaves.every((each) => each !== undefined) ? leaves.flat() : undefined;
}

function leavesAt(path: string, name: string, value: unknown): Leaf[] | undefined {
  if (!/^[\w-]+$/.test(name) || Array.isArray(value)) return undefined;
  const here = `${path}."${name}"`;
  return isObject(value) ? leavesBelow(here, value) : [{ path: here, json: toJson(value) }];
}

export const COMPARISONS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/**
 * True when the member `field` of the object in `column` deeply equals `wanted`. Null also equals an absent member.
 * SQLite compares objects and lists as text, so the column must hold `canonicalJson`. Qualify the column with its
 * table: the rows of `json_each` have a column `value` too.
 */
export function fieldEquals(column: string, field: string, wanted: unknown): DialectSql {
  if (wanted === null) {
    return {
      sqlite: sql`not exists (select 1 from json_each(${raw(column)}) f where f.key = ${field} and f.type <> 'null')`,
      postgres: sql`coalesce(${raw(column)} -> ${field}::text, 'null') = 'null'::jsonb`,
    };
  }
  const scalar = typeof wanted === 'object' ? canonicalJson(wanted) : (wanted as string | number | boolean);
  return {
    sqlite: sql`exists (select 1 from json_each(${raw(column)}) f
      where f.key = ${field} and f.type in ${list(sqliteTypes(wanted))} and f.value = ${scalar})`,
    postgres: sql`coalesce(${raw(column)} -> ${field}::text = ${canonicalJson(wanted)}::jsonb, false)`,
  };
}

/** True when the member has the type of `wanted` and compares as stated; text compares bytewise. */
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
    // The cast fails on any other type, and only `case` guarantees that the type is checked first.
    postgres:
      typeof wanted === 'number'
        ? sql`case when jsonb_typeof(${member}) = ${type} then (${member})::float8 ${operator} ${wanted}::float8
            else false end`
        : sql`(jsonb_typeof(${member}) = ${type}
            and ${raw(column)} ->> ${field}::text collate "C" ${operator} ${wanted}::text)`,
  };
}

/** SQLite's names for the type of a JSON value. */
function sqliteTypes(value: unknown): string[] {
  if (typeof value === 'number') return ['integer', 'real'];
  if (typeof value === 'string') return ['text'];
  if (typeof value === 'boolean') return [String(value)];
  return [Array.isArray(value) ? 'array' : 'object'];
}

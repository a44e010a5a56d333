import { isObject } from '../../core/json.ts';
import { nullable, text } from '../../db/columns.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { type DialectSql, join, raw, type Sql, sql } from '../../db/sql.ts';
import { THREAD_COLUMNS } from './row.ts';
import { ELIDED } from './values-summary.ts';

/** Path into the values of a thread, outermost first: names of members, indexes of lists (negative: from the end). */
export type ValuePath = readonly (string | number)[];

/**
 * The columns `part_0`, `part_1`, …: the value at each path, as JSON text. The database reads the state and returns
 * only the parts; with encryption it returns the whole state, as `state`.
 */
export function partColumns(cipher: Cipher, paths: readonly ValuePath[]): Sql<PartColumns> {
  if (paths.length > 0 && cipher.enabled) return sql`, ${STATE} as ${nullable(text('state'))}`;
  return join(
    paths.map((path, n) => sql`, ${partColumn(path)} as ${nullable(text(`part_${n}`))}`),
    '',
  );
}

/** What these columns return. */
export function partValues(cipher: Cipher, paths: readonly ValuePath[]): Sql[] {
  if (paths.length > 0 && cipher.enabled) return [STATE];
  return paths.map(partColumn);
}

interface PartColumns {
  [part: `part_${number}`]: string | null;
  state?: string | null;
}

/** Removes those columns from a row, and returns the parts by name. */
export function takeParts(
  cipher: Cipher,
  row: PartColumns,
  paths: Readonly<Record<string, ValuePath>>,
): { parts?: Record<string, unknown> } {
  const named = Object.entries(paths);
  if (named.length === 0) return {};
  const take = (column: keyof PartColumns) => {
    const json = row[column] ?? 'null';
    delete row[column];
    return json;
  };
  if (!cipher.enabled) {
    const parts = named.map(([name], n) => [name, JSON.parse(take(`part_${n}`))]);
    return { parts: Object.fromEntries(parts) };
  }
  const state = JSON.parse(cipher.decryptJson(THREAD_COLUMNS.values, take('state')));
  return { parts: Object.fromEntries(named.map(([name, path]) => [name, partOf(state, path)])) };
}

/** The value at a path, by the databases' rules; null if there is none. */
function partOf(state: unknown, path: ValuePath): unknown {
  const found = path.reduce((value, step) => {
    if (typeof step === 'number') return Array.isArray(value) ? value.at(step) : undefined;
    return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }, state);
  return found ?? null;
}

const STATE = sql`(select thread_values.value from thread_values
  where thread_values.thread_id = threads.thread_id)`;

/** From the summary if it has the member in full, otherwise from the state. */
function partColumn(path: ValuePath): Sql {
  const inState = sql`(select ${jsonAt('thread_values.value', path)} from thread_values
    where thread_values.thread_id = threads.thread_id)`;
  const [member] = path;
  if (typeof member !== 'string') return inState;
  return sql`case when ${jsonAt('threads.values_summary', [member])} = ${JSON.stringify(ELIDED)} then ${inState}
    else ${jsonAt('threads.values_summary', path)} end`;
}

/** A name matches nothing in a list, nor an index in an object. */
function jsonAt(column: string, path: ValuePath): DialectSql {
  const steps = path.map((step) => (typeof step === 'number' ? index(step) : `.${JSON.stringify(step)}`));
  const members = path.map((step) => (typeof step === 'number' ? sql`${step}::int` : sql`${step}::text`));
  return {
    sqlite: sql`${raw(column)} -> ${`$${steps.join('')}`}`,
    postgres: sql`(${join([raw(column), ...members], ' -> ')})::text`,
  };
}

function index(step: number): string {
  return step < 0 ? `[#${step}]` : `[${step}]`;
}

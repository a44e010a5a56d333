import { type DialectSql, join, raw, type Sql, sql } from './sql.ts';
import { LARGE } from './thread-outline.ts';

/** A way into the values of a thread, from the outermost: names of members, places in lists (negative: from the end). */
export type ValuePath = readonly (string | number)[];

/** The columns `part_0`, `part_1`, …: what is there, as JSON text. The database reads a state, and only its part comes. */
export function partColumns(paths: readonly ValuePath[]): Sql {
  return join(
    paths.map((path, n) => sql`, ${part(path)} as ${raw(`part_${n}`)}`),
    '',
  );
}

/** Takes those columns out of a row, by the names of the parts. */
export function takeParts(row: object, names: readonly string[]): { parts?: Record<string, unknown> } {
  if (names.length === 0) return {};
  const columns = row as Record<string, string | null>;
  const parts = names.map((name, n) => {
    const text = columns[`part_${n}`] ?? 'null';
    delete columns[`part_${n}`];
    return [name, JSON.parse(text)];
  });
  return { parts: Object.fromEntries(parts) };
}

/** From the outline when it has the member, and from the state otherwise. */
function part(path: ValuePath): Sql {
  const inState = sql`(select ${at('thread_values.value', path)} from thread_values
    where thread_values.thread_id = threads.thread_id)`;
  const [member] = path;
  if (typeof member !== 'string') return inState;
  return sql`case when ${at('threads.outline', [member])} = ${JSON.stringify(LARGE)} then ${inState}
    else ${at('threads.outline', path)} end`;
}

/** A name finds nothing in a list, nor a place in an object. */
function at(column: string, path: ValuePath): DialectSql {
  const steps = path.map((step) => (typeof step === 'number' ? place(step) : `.${JSON.stringify(step)}`));
  const members = path.map((step) => (typeof step === 'number' ? sql`${step}::int` : sql`${step}::text`));
  return {
    sqlite: sql`${raw(column)} -> ${`$${steps.join('')}`}`,
    postgres: sql`(${join([raw(column), ...members], ' -> ')})::text`,
  };
}

function place(step: number): string {
  return step < 0 ? `[#${step}]` : `[${step}]`;
}

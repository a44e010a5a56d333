/** Value of a placeholder, on both engines. JSON is passed as text (`toJson`), timestamps as ISO-8601 text. */
export type SqlValue = string | number | boolean | null | Uint8Array;

export type DialectName = 'sqlite' | 'postgres';

/**
 * A piece of SQL with its values; engines number the placeholders in their own way. `Row` is the type of the rows that a
 * statement with it returns: `unknown`, unless its select list is made of typed columns (`columns.ts`).
 */
export interface Sql<out Row = unknown> {
  readonly strings: readonly string[];
  readonly parts: readonly SqlPart[];
  readonly selects?: Selection<Row> | undefined;
}

type SqlPart = SqlValue | Sql | DialectSql;

/** Type information about the values of a column. Tests compare the rows of statements with it; engines ignore it. */
export interface Selection<out Row> {
  /** A table: of the types of its columns. A list: one of these texts. */
  readonly values: { readonly table: string } | readonly string[] | 'text' | 'number' | 'flag' | 'any';
  /** By default a table's values may be null if its columns may, and computed ones never. */
  readonly null?: 'allowed' | 'excluded';
  /** Exists only at the type level, never at run time. */
  readonly row?: Row;
}

/** The type of the rows that a statement with `Query` as its select list returns. */
export type RowOf<Query> = Query extends Sql<infer Row> ? Row : unknown;

type RowOfParts<Parts extends readonly unknown[]> = Parts extends readonly [infer First, ...infer Rest]
  ? RowOf<First> & RowOfParts<Rest>
  : unknown;

/** SQL that differs between the two engines (besides `json.ts`, `time.ts` and the claim). */
export interface DialectSql {
  readonly sqlite: Sql;
  readonly postgres: Sql;
}

/**
 * `` sql`select ${RUN} from runs where run_id = ${id}` ``: values become placeholders, nested SQL becomes text. Its rows
 * have all typed columns of the nested SQL.
 */
export function sql<const Parts extends readonly SqlPart[]>(
  strings: TemplateStringsArray,
  ...parts: Parts
): Sql<RowOfParts<Parts>> {
  return { strings, parts };
}

/** Verbatim SQL: only for names chosen by the program, such as a validated sort column. */
export function raw(text: string): Sql {
  return { strings: [text], parts: [] };
}

export function join<Row>(fragments: readonly (Sql<Row> | DialectSql)[], separator: string): Sql<Row> {
  if (fragments.length === 0) return { strings: [''], parts: [] };
  return { strings: ['', ...Array(fragments.length - 1).fill(separator), ''], parts: fragments };
}

/** Conditions without those that do not apply. */
export function defined<T>(conditions: readonly (T | undefined)[]): T[] {
  return conditions.filter((condition) => condition !== undefined);
}

/** `cond and cond …`, or `true` when there is none. */
export function and(conditions: readonly (Sql | DialectSql | undefined)[]): Sql {
  const present = defined(conditions);
  return present.length === 0 ? raw('true') : join(present, ' and ');
}

/** `(cond or cond …)`, or `false` when there is none. */
export function or(conditions: readonly (Sql | DialectSql)[]): Sql {
  return conditions.length === 0 ? raw('false') : sql`(${join(conditions, ' or ')})`;
}

/** `(?, ?, …)` for `in`; an empty list gives `(null)`, which matches nothing. */
export function list(values: readonly SqlValue[]): Sql {
  if (values.length === 0) return raw('(null)');
  return sql`(${join(
    values.map((value) => sql`${value}`),
    ', ',
  )})`;
}

/**
 * Text and values for one engine: `+?` for SQLite, `$1 …` for PostgreSQL. NUL becomes U+FFFD, as in JSON (`toJson`):
 * PostgreSQL text cannot contain NUL.
 */
export function render(query: Sql, dialect: DialectName): { text: string; values: SqlValue[] } {
  const values: SqlValue[] = [];
  const text = renderInto(query, dialect, values);
  return { text, values };
}

/**
 * The plus leaves the value unchanged. SQLite inspects the value of a bare `?` when it plans an `order by`, a `max` or
 * a `limit`, and recompiles such a statement on each run: 14 to 34 µs instead of 2 to 8.
 */
const SQLITE_PLACEHOLDER = '+?';

function renderInto(query: Sql, dialect: DialectName, values: SqlValue[]): string {
  let text = query.strings[0] as string;
  for (let i = 0; i < query.parts.length; i++) {
    const part = query.parts[i] as SqlPart;
    if (typeof part === 'object' && part !== null && !(part instanceof Uint8Array)) {
      text += renderInto('strings' in part ? part : part[dialect], dialect, values);
    } else {
      values.push(typeof part === 'string' && part.includes('\0') ? part.replaceAll('\0', '\uFFFD') : part);
      text += dialect === 'postgres' ? `$${values.length}` : SQLITE_PLACEHOLDER;
    }
    text += query.strings[i + 1];
  }
  return text;
}

/** Ends a select: holds its rows until the transaction ends. SQLite has a single writer and no row locks. */
export const FOR_UPDATE: DialectSql = { sqlite: raw(''), postgres: raw('for update') };

/** The same, but skips rows that another transaction has locked. */
export const SKIP_LOCKED: DialectSql = { sqlite: raw(''), postgres: raw('for update skip locked') };

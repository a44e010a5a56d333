/** Value of a placeholder, on both engines. JSON is passed as text (`toJson`), timestamps as ISO-8601 text. */
export type SqlValue = string | number | boolean | null | Uint8Array;

export type DialectName = 'sqlite' | 'postgres';

/** A piece of SQL with its values; engines number the placeholders in their own way. */
export interface Sql {
  readonly strings: readonly string[];
  readonly parts: readonly (SqlValue | Sql | DialectSql)[];
}

/** SQL that differs between the two engines (DESIGN §3: `json.ts`, `time.ts` and the claim). */
export interface DialectSql {
  readonly sqlite: Sql;
  readonly postgres: Sql;
}

/** `` sql`select * from runs where run_id = ${id}` ``: values become placeholders, nested SQL becomes text. */
export function sql(strings: TemplateStringsArray, ...parts: (SqlValue | Sql | DialectSql)[]): Sql {
  return { strings, parts };
}

/** Verbatim SQL: only for names chosen by the program, such as a validated sort column. */
export function raw(text: string): Sql {
  return { strings: [text], parts: [] };
}

export function join(fragments: readonly (Sql | DialectSql)[], separator: string): Sql {
  if (fragments.length === 0) return raw('');
  return { strings: ['', ...Array(fragments.length - 1).fill(separator), ''], parts: fragments };
}

/** `cond and cond …`, or `true` when there is none. */
export function and(conditions: readonly (Sql | DialectSql | undefined)[]): Sql {
  const present = conditions.filter((condition) => condition !== undefined);
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
    const part = query.parts[i] as SqlValue | Sql | DialectSql;
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

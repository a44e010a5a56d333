import type { DialectName, Sql, SqlValue } from '../../src/db/sql.ts';

/** A statement in one piece: its text has a `HOLE` for each value. */
export interface Statement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export const HOLE = '\0';

/** The text of one engine, with its nested pieces put together. */
export function flat(query: Sql, dialect: DialectName): Statement {
  const values: SqlValue[] = [];
  const text = flatInto(query, dialect, values);
  return { text, values };
}

function flatInto(query: Sql, dialect: DialectName, values: SqlValue[]): string {
  let text = query.strings[0] as string;
  query.parts.forEach((part, index) => {
    if (typeof part === 'object' && part !== null && !(part instanceof Uint8Array)) {
      text += flatInto('strings' in part ? part : part[dialect], dialect, values);
    } else {
      values.push(part);
      text += HOLE;
    }
    text += query.strings[index + 1];
  });
  return text;
}

export function sqlOf({ text, values }: Statement): Sql {
  return { strings: text.split(HOLE), parts: values };
}

/** As if the database's clock stood at `at`: time passes when the test says so, and is the same in each replay. */
export function atTime({ text, values }: Statement, at: string, dialect: DialectName): Statement {
  const all: SqlValue[] = [];
  let next = 0;
  const moved = text.replace(/\0|\b(?:clock|statement)_timestamp\(\)|'now'/g, (found) => {
    all.push(found === HOLE ? (values[next++] as SqlValue) : at);
    return found === HOLE || dialect === 'sqlite' ? HOLE : `${HOLE}::timestamptz`;
  });
  return { text: moved, values: all };
}

/** On one line, without what makes it long. */
export function brief({ text }: Statement): string {
  return text.replaceAll(HOLE, '?').replace(/\s+/g, ' ').trim().slice(0, 90);
}

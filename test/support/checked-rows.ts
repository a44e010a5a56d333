import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db, Reader, Transaction } from '../../src/db/db.ts';
import { type DialectName, render, type Selection, type Sql } from '../../src/db/sql.ts';

/**
 * A database that compares the rows of each statement with the columns that the statement declares, which are the type
 * of its rows to the compiler: the same names, and values of their types. Rejects at the first that differs.
 */
export function checkingRows(db: Db): Db {
  return {
    ...checked(db),
    run: (query, durability) => db.run(query, durability),
    transaction: (durability, body) =>
      db.transaction(durability, (tx) =>
        body({ ...checked(tx), run: (query) => tx.run(query), defer: (query) => tx.defer(query) }),
      ),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

function checked(reader: Reader | Transaction): Reader {
  return {
    dialect: reader.dialect,
    cipher: reader.cipher,
    async all(query) {
      const rows = await reader.all(query);
      check(query, rows, reader.dialect);
      return rows;
    },
    async get(query) {
      const row = await reader.get(query);
      if (row !== undefined) check(query, [row], reader.dialect);
      return row;
    },
  };
}

function check(query: Sql, rows: readonly unknown[], dialect: DialectName): void {
  const declared = declaredBy(query);
  const { text } = render(query, dialect);
  // The rows of `explain` are a plan.
  if (declared.size === 0 || text.startsWith('explain')) return;
  const expected = [...declared.keys()].sort().join(', ');
  for (const row of rows as object[]) {
    const names = Object.keys(row).sort().join(', ');
    if (names !== expected) throw new Error(`A row has ${names}; ${expected} are declared by ${text}`);
    for (const [name, value] of Object.entries(row)) {
      // Several: the selects of a union.
      if (declared.get(name)?.some((fits) => fits(value))) continue;
      throw new Error(`The type of ${name} is not that of ${JSON.stringify(value)} in a row of ${text}`);
    }
  }
}

type Check = (value: unknown) => boolean;

/** The checks of each result column by its name. */
function declaredBy(query: Sql, found = new Map<string, Check[]>()): Map<string, Check[]> {
  if (query.selects) {
    for (const { name, column } of itemsOf(query.strings.join())) {
      found.set(name, [...(found.get(name) ?? []), checkOf(query.selects, column)]);
    }
  }
  for (const part of query.parts) {
    if (typeof part === 'object' && part !== null && 'strings' in part) declaredBy(part, found);
  }
  return found;
}

/** Of `id, q.lease_token as token, value as "values"`: `id`, `lease_token` as `token`, `value` as `values`. */
function itemsOf(list: string): { column: string; name: string }[] {
  return list.split(',').map((item) => {
    const [, column = '', name = column] = item.match(/(\w+)(?: as "?(\w+))?"?\s*$/) ?? [];
    return { column, name };
  });
}

function checkOf({ values, null: nulls }: Selection<unknown>, column: string): Check {
  const fits = checkOfValues(values, column);
  if (nulls === 'allowed') return (value) => value === null || fits(value);
  return nulls === 'excluded' ? (value) => value !== null && fits(value) : fits;
}

function checkOfValues(values: Selection<unknown>['values'], column: string): Check {
  if (typeof values === 'string') return OF_TYPE[values];
  if ('table' in values) return STORED.get(`${values.table}.${column}`) ?? (() => false);
  return (value) => values.includes(value as string);
}

const OF_TYPE = {
  any: () => true,
  number: (value) => typeof value === 'number',
  text: (value) => typeof value === 'string',
  flag: (value) => value === 0 || value === 1,
  bytes: (value) => value instanceof Uint8Array,
} satisfies Record<string, Check>;

const SRC = join(import.meta.dirname, '../../src');
const TABLES = [join(SRC, 'db/tables.ts'), ...globSync(join(SRC, 'extensions/*/tables.ts'))]
  .map((file) => readFileSync(file, 'utf8'))
  .join('');

/** The check of each `table.column`, by the text of its type: `number`, `Timestamp | null`. */
const STORED = new Map(
  [...TABLES.matchAll(/^ {2,4}(\w+): \{([^}]*)\}/gm)].flatMap(([, table, members = '']) =>
    [...members.matchAll(/(\w+): ([^;]+)/g)].map(([, column, type = '']): [string, Check] => [
      `${table}.${column}`,
      checkOfType(type.trim()),
    ]),
  ),
);

function checkOfType(type: string): Check {
  const fits = type.startsWith('number')
    ? OF_TYPE.number
    : type.startsWith('Uint8Array')
      ? OF_TYPE.bytes
      : OF_TYPE.text;
  return type.endsWith(' | null') ? (value) => value === null || fits(value) : fits;
}

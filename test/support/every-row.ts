import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { OWNED_DATA } from '../../src/app/extensions.ts';
import { toJson } from '../../src/core/json.ts';
import { columnsNamed } from '../../src/db/columns.ts';
import type { Db, Reader } from '../../src/db/db.ts';
import { insertRows } from '../../src/db/rows.ts';
import { readSchema } from '../../src/db/schema.ts';
import { join, raw, type SqlValue, sql } from '../../src/db/sql.ts';
import { openTarget } from '../../src/extensions/operations/copy/databases.ts';
import { type DatabasesByUrl, databasesByUrl } from './databases-by-url.ts';
import { RandomJson } from './random-json.ts';
import { type Column, columnsOf, commonColumns } from './table-types.ts';

const TEXT = 'ünï🦜 "quoted" \\ back\tslash \u202e\u0000 日本語';

/** Values that are data of another column, or that the program reads as something. */
const GIVEN: Readonly<Record<string, (row: number) => SqlValue>> = {
  'store_items.namespace': () => toJson(['users', 'ädä']),
  'store_items.prefix': () => 'users.ädä.',
  'store_items.index_rule': () => null,
  'store_items.value': (row) => toJson({ title: `Parrot ${row}`, b: [1, null, { z: 1, a: '🦜' }], a: 1e21 }),
  'store_vectors.vector': (row) => Buffer.from(new Float32Array([row, 0.1, -1 / 3]).buffer),
  'workers.expires_at': () => '2026-01-01T00:00:00.123Z',
};

/** A migrated database of each engine without rows: its schema. */
export interface EmptyDatabases extends AsyncDisposable {
  readonly sqlite: Db;
  readonly postgres: Db;
}

async function emptyOfEach(places: DatabasesByUrl): Promise<EmptyDatabases> {
  const stack = new AsyncDisposableStack();
  return {
    sqlite: stack.use(await openTarget(places.sqlite(), { owned: OWNED_DATA })),
    postgres: stack.use(await openTarget(await places.postgres(), { owned: OWNED_DATA })),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** For the tests of this `describe`: databases by URL, and one of each engine without rows. They are there when tests begin. */
export function useDatabases(): DatabasesByUrl & { readonly empty: EmptyDatabases } {
  const opened: Partial<DatabasesByUrl & { empty: EmptyDatabases }> = {};
  beforeAll(async () => {
    const places = await databasesByUrl();
    Object.assign(opened, places, { empty: await emptyOfEach(places) });
  }, 60_000);
  afterAll(async () => {
    await opened.empty?.[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]?.();
  });
  return opened as Required<typeof opened>;
}

/** Fills every table with rows of every kind, from the schema: a new table has some too. */
export async function fillEveryTable(
  db: Db,
  engines: Pick<EmptyDatabases, 'sqlite' | 'postgres'>,
  rows = 12,
): Promise<void> {
  const columns = commonColumns(await columnsOf(engines.sqlite), await columnsOf(engines.postgres));
  const tables = Map.groupBy(columns, ({ postgres }) => postgres.table);
  const schema = await readSchema(engines.postgres);
  const references = await foreignKeys(engines.sqlite);
  const json = new RandomJson(7);
  const written = new Map<string, Record<string, SqlValue>[]>();
  const waiting = [...tables.keys()].filter((name) => !name.endsWith('_migrations'));
  while (waiting.length > 0) {
    const name = waiting.shift() as string;
    if (schema.get(name)?.parents.some((parent) => waiting.includes(parent))) {
      waiting.push(name);
      continue;
    }
    const its = (tables.get(name) ?? []).map(({ postgres }) => postgres);
    const made = Array.from({ length: rows }, (_, row) =>
      Object.fromEntries(
        its.map((column) => {
          const parent = references.get(`${name}.${column.name}`);
          const from = parent && written.get(parent.table)?.[row];
          return [column.name, from ? (from[parent.column] as SqlValue) : madeValue(column, row, json)];
        }),
      ),
    );
    written.set(name, made);
    const into = sql`${raw(name)} (${raw(its.map((column) => column.name).join(', '))})`;
    const values = made.map((row) => {
      const cells = its.map((column) => sql`${row[column.name] as SqlValue}`);
      return sql`(${join(cells, ', ')})`;
    });
    await db.transaction('async', (tx) => insertRows(tx, into, values, raw('')));
  }
}

function madeValue(column: Column, row: number, json: RandomJson): SqlValue {
  const given = GIVEN[`${column.table}.${column.name}`];
  if (given) return given(row);
  if (column.nullable && row % 4 === 3) return null;
  const allowed = column.check?.match(/'[^']*'/g);
  if (allowed) return (allowed[row % allowed.length] as string).slice(1, -1);
  switch (column.type) {
    case 'uuid':
      return randomUUID();
    case 'timestamp with time zone':
      return new Date(Date.UTC(2020 + row, row, 29, 23, 59, 59, row * 83)).toISOString();
    case 'json':
    case 'jsonb':
      return toJson(json.object());
    case 'double precision':
      return row / 3;
    case 'bytea':
      return row === 0 ? randomBytes(5 * 1024 ** 2) : randomBytes(row - 1);
    case 'text':
      return row === 1 && column.name === 'data' ? TEXT.repeat(100_000) : `${TEXT} ${row} ${randomUUID()}`;
    default:
      return row + 1;
  }
}

async function foreignKeys(sqlite: Reader): Promise<Map<string, { table: string; column: string }>> {
  const rows = await sqlite.all(sql`select ${columnsNamed(['owner', 'own', 'parent', 'theirs'])} from (
    select m.name as owner, f."from" as own, f."table" as parent, coalesce(f."to", f."from") as theirs
    from sqlite_master m, pragma_foreign_key_list(m.name) f where m.type = 'table')`);
  return new Map(
    rows.map(({ owner, own, parent, theirs }) => [
      `${owner}.${own}`,
      { table: String(parent), column: String(theirs) },
    ]),
  );
}

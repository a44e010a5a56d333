import { expect, test } from 'vitest';
import { OWNED_DATA } from '../../src/app/extensions.ts';
import { columns, text } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type Migration, migrations } from '../../src/db/migrations/index.ts';
import { type DialectSql, raw, sql } from '../../src/db/sql.ts';
import { allMigrations } from '../../src/storage/owned-data.ts';
import { describeEachDatabase } from '../support/databases.ts';

const notes: Migration = {
  version: 1,
  name: 'notes',
  text: `
-- A comment; with a semicolon inside.
create table notes (id {uuid} primary key, at {timestamp}){strict};
create index notes_at on notes (at);
`,
};
const authors: Migration = { version: 2, name: 'authors', text: 'alter table notes add column author text;' };
const broken: Migration = {
  version: 2,
  name: 'broken',
  text: 'create table half (id integer);\ncreate table notes (id integer);',
};

async function applied(db: Db): Promise<number[]> {
  const rows = await db.all(
    sql`select ${columns('schema_migrations', 'version')} from schema_migrations order by version`,
  );
  return rows.map((row) => row.version);
}

/** All that migrations leave, one line each; not when they were applied. */
const SCHEMA: DialectSql = {
  sqlite: raw(`select sql as line from sqlite_master where sql is not null
    union all select version || ' ' || name || ' ' || expands from schema_migrations`),
  postgres:
    raw(`select concat_ws(' ', relname, relkind, reloptions, attname, format_type(atttypid, atttypmod),
      attcollation, attnotnull, attidentity, pg_get_expr(adbin, adrelid)) as line
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = attrelid and adnum = attnum where relnamespace = current_schema()::regnamespace
    union all select pg_get_indexdef(indexrelid, 0, true) from pg_index join pg_class on pg_class.oid = indexrelid
      where relnamespace = current_schema()::regnamespace
    union all select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid, true)) from pg_constraint
      where connamespace = current_schema()::regnamespace
    union all select concat_ws(' ', version, name, expands) from schema_migrations`),
};

async function schemaOf(db: Db): Promise<string[]> {
  return (await db.all(sql`select ${text('line')} from (${SCHEMA}) s`)).map(({ line }) => line).sort();
}

describeEachDatabase('migrations', (open) => {
  test('create the schema that other tests start from', async () => {
    const made: string[][] = [];
    for (const migrated of [true, false]) {
      await using db = await open({ migrated });
      await migrate(db, allMigrations(OWNED_DATA));
      made.push(await schemaOf(db));
    }
    expect(made[0]?.length).toBeGreaterThan(100);
    expect(made[0]).toEqual(made[1]);
  });

  test('are listed in numerical order', () => {
    const versions = migrations.map((migration) => migration.version);
    expect(versions).toEqual([...new Set(versions)].sort((one, other) => one - other));
  });

  test('are not applied again at a second start', async () => {
    await using db = await open();
    await migrate(db);
    expect(await applied(db)).toEqual(migrations.map((migration) => migration.version));
  });

  test('are each applied once by servers that start together', async () => {
    await using db = await open({ migrated: false });
    await Promise.all([migrate(db), migrate(db), migrate(db)]);
    expect(await applied(db)).toEqual(migrations.map((migration) => migration.version));
  });

  test('of a newer program are applied and keep the data', async () => {
    await using db = await open({ migrated: false });
    await migrate(db, [notes]);
    await db.run(sql`insert into notes (id) values ('00000000-0000-0000-0000-000000000001')`);
    await migrate(db, [notes, authors]);
    expect(await db.all(sql`select author from notes`)).toEqual([{ author: null }]);
    expect(await applied(db)).toEqual([1, 2]);
  });

  test('newer than the program make it refuse the database', async () => {
    await using db = await open({ migrated: false });
    await migrate(db, [notes, authors]);
    await expect(migrate(db, [notes])).rejects.toThrow('at schema version 2');
  });

  test('that fail leave no changes', async () => {
    await using db = await open({ migrated: false });
    await expect(migrate(db, [notes, broken])).rejects.toThrow('notes');
    expect(await applied(db)).toEqual([1]);
    await expect(db.all(sql`select 1 from half`)).rejects.toThrow('half');
  });

  test('with an unknown column type fail with its name', async () => {
    await using db = await open({ migrated: false });
    const wrong = { version: 1, name: 'wrong', text: 'create table x (id {uid});' };
    await expect(migrate(db, [wrong])).rejects.toThrow('{uid}');
  });
});

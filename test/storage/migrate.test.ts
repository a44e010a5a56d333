import { expect, test } from 'vitest';
import { columns } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type Migration, migrations } from '../../src/db/migrations/index.ts';
import { sql } from '../../src/db/sql.ts';
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

describeEachDatabase('migrations', (open) => {
  test('are listed in the order of their numbers', () => {
    const versions = migrations.map((migration) => migration.version);
    expect(versions).toEqual([...new Set(versions)].sort((one, other) => one - other));
  });

  test('a second start finds nothing to do', async () => {
    await using db = await open();
    await migrate(db);
    expect(await applied(db)).toEqual(migrations.map((migration) => migration.version));
  });

  test('servers that start together apply each migration once', async () => {
    await using db = await open({ migrated: false });
    await Promise.all([migrate(db), migrate(db), migrate(db)]);
    expect(await applied(db)).toEqual(migrations.map((migration) => migration.version));
  });

  test('a newer program applies what is new and keeps the data', async () => {
    await using db = await open({ migrated: false });
    await migrate(db, [notes]);
    await db.run(sql`insert into notes (id) values ('00000000-0000-0000-0000-000000000001')`);
    await migrate(db, [notes, authors]);
    expect(await db.all(sql`select author from notes`)).toEqual([{ author: null }]);
    expect(await applied(db)).toEqual([1, 2]);
  });

  test('an older program refuses a database that is ahead of it', async () => {
    await using db = await open({ migrated: false });
    await migrate(db, [notes, authors]);
    await expect(migrate(db, [notes])).rejects.toThrow('at schema version 2');
  });

  test('a migration that fails leaves nothing of itself', async () => {
    await using db = await open({ migrated: false });
    await expect(migrate(db, [notes, broken])).rejects.toThrow('notes');
    expect(await applied(db)).toEqual([1]);
    await expect(db.all(sql`select 1 from half`)).rejects.toThrow('half');
  });

  test('an unknown type is named', async () => {
    await using db = await open({ migrated: false });
    const wrong = { version: 1, name: 'wrong', text: 'create table x (id {uid});' };
    await expect(migrate(db, [wrong])).rejects.toThrow('{uid}');
  });
});

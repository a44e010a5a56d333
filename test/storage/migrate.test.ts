import { expect, test } from 'vitest';
import { migrate } from '../../src/storage/migrate.ts';
import { sql } from '../../src/storage/sql.ts';
import { describeEachDatabase } from '../support/databases.ts';

describeEachDatabase('migrations', (open) => {
  test('a second start finds nothing to do', async () => {
    await using db = await open();
    await migrate(db);
    expect(await db.all(sql`select version, name from schema_migrations`)).toEqual([
      { version: 1, name: 'base' },
    ]);
  });

  test('servers that start together apply each migration once', async () => {
    await using db = await open({ migrated: false });
    await Promise.all([migrate(db), migrate(db), migrate(db)]);
    expect(await db.all(sql`select version from schema_migrations`)).toHaveLength(1);
  });
});

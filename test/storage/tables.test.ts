import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeBothDatabases } from '../support/databases.ts';
import { columnsOf, commonColumns, disagreements, tablesSource } from '../support/table-types.ts';

const FILE = join(import.meta.dirname, '../../src/db/tables.ts');

describeBothDatabases('the row types in src/db/tables.ts', (open) => {
  test('are those of the migrated schema, the same on both engines', async () => {
    await using sqlite = await open.sqlite();
    await using postgres = await open.postgres();

    const columns = commonColumns(await columnsOf(sqlite), await columnsOf(postgres));

    expect(columns.length).toBeGreaterThan(150);
    expect(disagreements(columns)).toEqual([]);
    await expect(
      tablesSource(columns),
      'The migrations have changed: write it anew with `npx vitest run test/storage/tables.test.ts -u`.',
    ).toMatchFileSnapshot(FILE);
  });
});

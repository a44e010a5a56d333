import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OWNED_DATA } from '../../src/app/extensions.ts';
import type { OwnedData } from '../../src/storage/owned-data.ts';
import { describeBothDatabases } from '../support/databases.ts';
import {
  columnsOf,
  commonColumns,
  disagreements,
  extensionTablesSource,
  tablesSource,
} from '../support/table-types.ts';

const SRC = join(import.meta.dirname, '../../src');
const ANEW =
  'The migrations have changed: write it anew with `npx vitest run test/storage/tables.test.ts -u`.';

/** The tables that its migrations create. */
function tablesOf({ migrations }: OwnedData): string[] {
  const scripts = migrations.flatMap(({ text }) => (typeof text === 'string' ? [text] : Object.values(text)));
  return scripts.flatMap((script) =>
    [...script.matchAll(/^create table (\w+)/gm)].map(([, name]) => name as string),
  );
}

describeBothDatabases('the row types in src/db/tables.ts and those of extensions', (open) => {
  test('are those of the migrated schema, the same on both engines', async () => {
    await using sqlite = await open.sqlite();
    await using postgres = await open.postgres();

    const columns = commonColumns(await columnsOf(sqlite), await columnsOf(postgres));

    expect(columns.length).toBeGreaterThan(150);
    expect(disagreements(columns)).toEqual([]);
    const within = (tables: readonly string[]) =>
      columns.filter(({ postgres }) => tables.includes(postgres.table));
    const ofExtensions = OWNED_DATA.flatMap(tablesOf);
    const ofCore = columns.filter(({ postgres }) => !ofExtensions.includes(postgres.table));
    await expect(tablesSource(ofCore), ANEW).toMatchFileSnapshot(join(SRC, 'db/tables.ts'));
    for (const owned of OWNED_DATA) {
      const source = extensionTablesSource(within(tablesOf(owned)));
      await expect(source, ANEW).toMatchFileSnapshot(join(SRC, `extensions/${owned.name}/tables.ts`));
    }
  });
});

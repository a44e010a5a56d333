import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { OWNED_DATA } from '../../../src/app/extensions.ts';
import type { Db } from '../../../src/db/db.ts';
import { type DialectName, type DialectSql, raw, sql } from '../../../src/db/sql.ts';
import { ENCRYPTED_TABLES } from '../../../src/storage/encryption/columns.ts';
import { describeEachDatabase } from '../../support/databases.ts';

/** Made by SQLite for its own, or rows of a word index, whose words are the index's. */
const OF_SQLITE = /^(sqlite_\w+|store_words_\w+|\w+_terms)$/;

/** How each column is kept, as docs/encryption.md says it: `table.column`. */
function documented(): Record<'sealed' | 'tokens' | 'plain', string[]> {
  const page = readFileSync(resolve(import.meta.dirname, '../../../docs/encryption.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \|(.*)\|(.*)\|(.*)\|$/gm)];
  const named = (cell: number) =>
    rows.flatMap((row) =>
      [...(row[cell] as string).matchAll(/`(\w+)`/g)].map(([, column]) => `${row[1]}.${column}`),
    );
  return { sealed: named(2), tokens: named(3), plain: named(4) };
}

const COLUMNS: DialectSql = {
  sqlite: raw(`select m.name as "table", p.name as "column" from sqlite_master m, pragma_table_info(m.name) p
    where m.type = 'table'`),
  postgres: raw(`select table_name as "table", column_name as "column" from information_schema.columns
    where table_schema = current_schema()`),
};

async function columnsOf(db: Db): Promise<string[]> {
  const rows = (await db.all(sql`${COLUMNS}`)) as { table: string; column: string }[];
  return rows.filter(({ table }) => !OF_SQLITE.test(table)).map(({ table, column }) => `${table}.${column}`);
}

/** What the other engine has, or PostgreSQL with pgvector. */
const ELSEWHERE: Record<DialectName, string[]> = {
  sqlite: ['store_items.words', 'store_vectors.embedding'],
  postgres: [
    'assistants.name_order',
    'assistants.row_id',
    'store_vectors.embedding',
    'store_words.scope',
    'store_words.words',
    'threads.row_id',
  ],
};

describeEachDatabase('the columns of the schema', (open) => {
  test('are each documented as exactly one of encrypted, tokens or plain', async () => {
    await using db = await open();
    const { sealed, tokens, plain } = documented();
    const known = [...sealed, ...tokens, ...plain];
    const columns = await columnsOf(db);

    expect(columns.length).toBeGreaterThan(150);
    expect(columns.filter((column) => !known.includes(column))).toEqual([]);
    expect(known.filter((column) => !columns.includes(column)).sort()).toEqual(ELSEWHERE[db.dialect]);
    expect(known.filter((column, place) => known.indexOf(column) !== place)).toEqual([]);
  });
});

test('are encrypted exactly if documented as encrypted', () => {
  const ofExtensions = OWNED_DATA.flatMap((owned) => owned.encrypted ?? []);
  const sealed = [...ENCRYPTED_TABLES, ...ofExtensions].flatMap(({ table, columns }) =>
    Object.keys(columns).map((column) => `${table}.${column}`),
  );

  expect(sealed.sort()).toEqual(documented().sealed.sort());
});

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OWNED_DATA } from '../../src/app/extensions.ts';
import { plainCipher } from '../../src/db/encryption/cipher.ts';
import { openSqlite } from '../../src/db/engines/sqlite.ts';
import { migrate } from '../../src/db/migrate.ts';
import { allMigrations } from '../../src/storage/owned-data.ts';

/**
 * Writes a SQLite file that has our tables and no rows, and its folder: a copy, for to migrate takes 30 syncs of the
 * disk and 40 ms of CPU. Nothing where the tests have no folder for what they share.
 */
export async function writeMigratedSqlite(file: string): Promise<void> {
  const shared = process.env['TEST_DATABASES'];
  if (shared === undefined) return;
  const migrated = join(shared, 'migrated.db');
  if (!existsSync(migrated)) await writeFirst(migrated);
  await mkdir(dirname(file), { recursive: true });
  await copyFile(migrated, file);
}

/** Several files of tests may do so at once; each sees the whole file or none. */
async function writeFirst(migrated: string): Promise<void> {
  const own = `${migrated}-${randomUUID()}`;
  {
    await using db = openSqlite(own, { synchronous: 'full', cipher: plainCipher });
    await migrate(db, allMigrations(OWNED_DATA));
  }
  await rename(own, migrated);
}

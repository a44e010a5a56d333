import { existsSync, readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { text } from '../../src/db/columns.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { raw, sql } from '../../src/db/sql.ts';

/** Everything that a database keeps, as somebody who has only its files reads it. */
export async function storedText(url: string): Promise<string> {
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  return path === undefined ? rowsOf(url) : filesOf(path);
}

/** As docs/encryption.md tells: a SQLite file does not have any more what was overwritten. */
export function vacuum(url: string): void {
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  if (path === undefined) return;
  const database = new Database(path);
  database.exec('vacuum');
  database.close();
}

function filesOf(path: string): string {
  const files = [path, `${path}-wal`, `${path}-shm`].filter((file) => existsSync(file));
  return files.map((file) => readFileSync(file, 'latin1')).join('\n');
}

/** Bytes are in hexadecimal. */
async function rowsOf(url: string): Promise<string> {
  await using db = openPostgres(url);
  const tables = await db.all(sql`
    select table_name as ${text('name')} from information_schema.tables where table_schema = current_schema()`);
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await db.all(sql`select t::text as ${text('row')} from ${raw(`"${name}"`)} t`);
    texts.push(...rows.map(({ row }) => row));
  }
  return texts.join('\n');
}

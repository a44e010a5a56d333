import { openPostgres } from '../../src/db/engines/postgres.ts';
import { sqlitePath } from '../../src/db/engines/sqlite-files.ts';
import { openSqliteSnapshot } from '../../src/db/engines/sqlite-snapshot.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { sideOf } from '../../src/extensions/operations/copy/side.ts';
import { copiedTables } from '../../src/extensions/operations/copy/tables.ts';

/** The rows of all tables as text, sorted, equal on both engines: members of jsonb have an order of their own there. */
export async function rowsOf(url: string): Promise<Record<string, string[]>> {
  const path = sqlitePath(url);
  await using db = path === undefined ? openPostgres(url) : openSqliteSnapshot(path);
  const { schema } = await sideOf(db);
  const rows: Record<string, string[]> = {};
  for (const { name, columns } of copiedTables(schema, schema)) {
    // An index that only SQLite has as a column.
    const names = columns.map((column) => column.name).filter((column) => column !== 'name_order');
    const found = await db.all(sql`select ${raw(names.join(', '))} from ${raw(name)}`);
    rows[name] = found
      .map((row) => JSON.stringify(names.map((column) => shown((row as Record<string, unknown>)[column]))))
      .sort();
  }
  return rows;
}

function shown(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return typeof value === 'string' && value.startsWith('{') ? sorted(JSON.parse(value)) : value;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => [key, sorted(member)]);
}

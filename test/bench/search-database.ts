import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db } from '../../src/db/db.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { openSqlite } from '../../src/db/engines/sqlite.ts';
import { migrate } from '../../src/db/migrate.ts';
import { raw } from '../../src/db/sql.ts';

/** A database to fill directly and to serve from afterwards; gone when disposed of. */
export interface SearchDatabase extends AsyncDisposable {
  readonly uri: string;
  /** Opens it, with our tables, for the time of `use`: SQLite has one user at a time. */
  within<T>(use: (db: Db) => Promise<T>): Promise<T>;
}

export type MakeDatabase = () => Promise<SearchDatabase>;

/** SQLite, and PostgreSQL when there is a server for it. */
export const ENGINES: Readonly<Record<string, MakeDatabase>> = {
  SQLite: sqliteFile,
  ...(process.env['TEST_POSTGRES_URI'] && { PostgreSQL: postgresSchema }),
};

async function sqliteFile(): Promise<SearchDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-bench-'));
  const file = join(folder, 'server.db');
  return {
    uri: `sqlite:${file}`,
    within: (use) => migrated(openSqlite(file, { synchronous: 'full' }), use),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

async function postgresSchema(): Promise<SearchDatabase> {
  const uri = process.env['TEST_POSTGRES_URI'] ?? '';
  const schema = `bench_${randomUUID().replaceAll('-', '')}`;
  const there = new URL(uri);
  there.searchParams.set('options', `-c search_path=${schema}`);
  const inServer = async (statement: string) => {
    await using server = openPostgres(uri);
    await server.run(raw(statement));
  };
  await inServer(`create schema ${schema}`);
  return {
    uri: there.href,
    within: (use) => migrated(openPostgres(there.href), use),
    [Symbol.asyncDispose]: () => inServer(`drop schema ${schema} cascade`),
  };
}

async function migrated<T>(db: Db, use: (db: Db) => Promise<T>): Promise<T> {
  await using open = db;
  await migrate(open);
  return await use(open);
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite, type Transaction } from '@electric-sql/pglite';
import { afterAll, describe } from 'vitest';
import type { Db } from '../../src/storage/db.ts';
import {
  type PostgresDriver,
  type PostgresSession,
  postgresDb,
} from '../../src/storage/engines/postgres-db.ts';
import { POSTGRES_PARSERS } from '../../src/storage/engines/postgres-types.ts';
import { openSqlite } from '../../src/storage/engines/sqlite.ts';
import { migrate } from '../../src/storage/migrate.ts';

/** An empty database, with our tables unless told otherwise. Close it with `await using`. */
export type OpenDatabase = (options?: { migrated: boolean }) => Promise<Db>;

/** The same tests on each engine: `describeEachDatabase('threads', (open) => { test('…', async () => { … }) })`. */
export function describeEachDatabase(name: string, tests: (open: OpenDatabase) => void): void {
  describe(`${name} on SQLite`, () => tests(sqliteFiles()));
  describe(`${name} on PostgreSQL`, () => tests(postgresInProcess()));
}

function sqliteFiles(): OpenDatabase {
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  return async ({ migrated } = { migrated: true }) => {
    const folder = mkdtempSync(join(tmpdir(), 'agent-server-test-'));
    folders.push(folder);
    const db = openSqlite(join(folder, 'server.db'), { synchronous: 'full' });
    if (migrated) await migrate(db);
    return db;
  };
}

/** One PGlite for the file: it takes a second to start, emptying it does not. */
function postgresInProcess(): OpenDatabase {
  let starting: Promise<PGlite> | undefined;
  afterAll(async () => {
    await (await starting)?.close();
  });
  return async ({ migrated } = { migrated: true }) => {
    starting ??= PGlite.create({ parsers: { ...POSTGRES_PARSERS } });
    const pglite = await starting;
    await pglite.exec('drop schema public cascade; create schema public');
    const db = postgresDb(pgliteDriver(pglite));
    if (migrated) await migrate(db);
    return db;
  };
}

function pgliteDriver(pglite: PGlite): PostgresDriver {
  return {
    ...pgliteSession(pglite),
    transaction: (_durability, body) => pglite.transaction((tx) => body(pgliteSession(tx))),
    close: async () => {},
  };
}

function pgliteSession(client: PGlite | Transaction): PostgresSession {
  return {
    async query(text, values) {
      const { rows, affectedRows } = await client.query(text, [...values]);
      return { rows, changes: affectedRows ?? 0 };
    },
  };
}

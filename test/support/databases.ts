import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite, type Transaction } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { afterAll, describe } from 'vitest';
import { OWNED_DATA } from '../../src/app/extensions.ts';
import { bufferedRandomBytes } from '../../src/core/random.ts';
import type { Db } from '../../src/db/db.ts';
import { type Cipher, plainCipher } from '../../src/db/encryption/cipher.ts';
import { EncryptingCipher } from '../../src/db/encryption/encrypting-cipher.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import {
  POSTGRES_PARSERS,
  type PostgresDriver,
  type PostgresSession,
  postgresDb,
} from '../../src/db/engines/postgres-db.ts';
import { openSqlite } from '../../src/db/engines/sqlite.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type DialectName, raw } from '../../src/db/sql.ts';
import { unlock } from '../../src/storage/encryption/unlock.ts';
import { allMigrations } from '../../src/storage/owned-data.ts';
import { checkingRows } from './checked-rows.ts';
import { withDeferred } from './deferred.ts';
import { EMPTY_TABLES, watchingSchema } from './emptied-tables.ts';
import { sealerOfTests, testSealer } from './encryption.ts';
import { migrationScript, writeMigratedPostgres } from './migrated-postgres.ts';
import { writeMigratedSqlite } from './migrated-sqlite.ts';
import { type PostgresSchema, postgresSchema, TEST_POSTGRES_URI } from './postgres-schema.ts';
import { repeatedDb } from './repeated-db.ts';

export { postgresSchema, TEST_POSTGRES_URI } from './postgres-schema.ts';

/** An empty database, with our tables unless told otherwise. One at a time; close it with `await using`. */
export type OpenDatabase = (options?: { migrated: boolean }) => Promise<Db>;

/** `npm run test:pgbouncer`: SQLite is no part of it. */
const IS_SQLITE_TESTED = process.env['TEST_PGBOUNCER'] !== '1';

/** Runs the body of each transaction twice, in any test of storage: to find what a body changes in memory. */
const IS_REPEATED = process.env['TEST_REPEATED'] === '1';

/** The same tests on each engine: `describeEachDatabase('threads', (open) => { test('…', async () => { … }) })`. */
export function describeEachDatabase(name: string, tests: (open: OpenDatabase) => void): void {
  if (IS_SQLITE_TESTED) describe(`${name} on SQLite`, () => tests(migratedFirst(sqliteFiles())));
  describe(`${name} on PostgreSQL`, () => tests(migratedFirst(postgres())));
}

/** The same tests on each engine with encryption at rest. */
export function describeEncrypted(name: string, tests: (open: OpenDatabase) => void): void {
  if (IS_SQLITE_TESTED)
    describe(`${name} on SQLite, encrypted`, () => tests(migratedFirst(sqliteFiles(), testSealer())));
  describe(`${name} on PostgreSQL, encrypted`, () => tests(migratedFirst(postgres(), testSealer())));
}

/**
 * The same tests on each engine, without encryption and with it: of encrypted columns (`ENCRYPTED_TABLES`), and of what
 * SQL finds, copies or measures in them. Tests that only pass by such a column use `describeEachDatabase`.
 */
export function describeEachStorage(name: string, tests: (open: OpenDatabase) => void): void {
  describeEachDatabase(name, tests);
  describeEncrypted(name, tests);
}

/** Tests that compare the engines. */
export function describeBothDatabases(
  name: string,
  tests: (open: Readonly<Record<DialectName, OpenDatabase>>) => void,
): void {
  describe(name, () => tests({ sqlite: migratedFirst(sqliteFiles()), postgres: migratedFirst(postgres()) }));
}

/** `migrated`: it may have our tables already. */
type Open = (cipher?: Cipher, migrated?: boolean) => Promise<Db>;

function postgres(): Open {
  return TEST_POSTGRES_URI ? postgresSchemas(TEST_POSTGRES_URI) : postgresInProcess;
}

/** The same tests on a PostgreSQL that has pgvector, which the server of the tests may lack. */
export function describePgvector(name: string, tests: (open: OpenDatabase) => void): void {
  describe(`${name} on PostgreSQL with pgvector`, () => tests(migratedFirst(pgvectorInProcess)));
}

function migratedFirst(open: Open, sealer = sealerOfTests()): OpenDatabase {
  return async ({ migrated } = { migrated: true }) => {
    const cipher = sealer && new EncryptingCipher(sealer);
    const db = await open(cipher, migrated);
    if (migrated) await migrate(db, allMigrations(OWNED_DATA));
    if (migrated && cipher) await unlock(db, cipher, bufferedRandomBytes());
    const checked = checkingRows(db);
    return IS_REPEATED ? repeatedDb(checked) : checked;
  };
}

function sqliteFiles(): Open {
  const root = mkdtempSync(join(tmpdir(), 'agent-server-test-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  return async (cipher = plainCipher, migrated = false) => {
    const file = join(root, randomUUID(), 'server.db');
    if (migrated) await writeMigratedSqlite(file);
    return openSqlite(file, { synchronous: 'full', cipher });
  };
}

/**
 * Tests in which several transactions are under way at once, which PGlite's single connection cannot have: on a real
 * server, and skipped without one.
 */
export function describePostgresServer(name: string, tests: (open: OpenDatabase) => void): void {
  describe.runIf(TEST_POSTGRES_URI)(`${name} on a PostgreSQL server`, () =>
    tests(migratedFirst(postgresSchemas(TEST_POSTGRES_URI as string))),
  );
}

function postgresSchemas(uri: string): Open {
  const schemas: PostgresSchema[] = [];
  /** Have our tables, and no user. */
  const free: PostgresSchema[] = [];
  afterAll(async () => {
    for (const schema of schemas) await schema[Symbol.asyncDispose]();
  });
  async function created(migrated: boolean): Promise<PostgresSchema> {
    const schema = await postgresSchema(uri);
    schemas.push(schema);
    if (migrated) await writeMigratedPostgres(schema.url);
    return schema;
  }
  return async (cipher = plainCipher, migrated = false) => {
    const used = migrated ? free.pop() : undefined;
    const schema = used ?? (await created(migrated));
    const db = openPostgres(schema.url, { cipher });
    if (used) await db.run(raw(EMPTY_TABLES));
    let isReusable = migrated;
    const watched = watchingSchema(db, () => {
      isReusable = false;
    });
    const close = async () => {
      await db[Symbol.asyncDispose]();
      if (isReusable) free.push(schema);
      isReusable = false;
    };
    return { ...watched, [Symbol.asyncDispose]: close };
  };
}

const PARSERS = { parsers: { ...POSTGRES_PARSERS } };

interface InProcess {
  readonly server: PGlite;
  /** Has our tables as they were created. */
  isReusable: boolean;
}

/** One of each kind for the process, also for several test files: to start it takes two seconds of CPU. */
let pglite: Promise<InProcess> | undefined;
let withPgvector: Promise<InProcess> | undefined;

const inProcess = async (server: Promise<PGlite>) => ({ server: await server, isReusable: false });

function postgresInProcess(cipher?: Cipher, migrated = false): Promise<Db> {
  pglite ??= inProcess(PGlite.create(PARSERS));
  return emptied(pglite, cipher, migrated);
}

function pgvectorInProcess(_cipher?: Cipher, migrated = false): Promise<Db> {
  withPgvector ??= inProcess(PGlite.create({ ...PARSERS, extensions: { vector } }));
  return emptied(withPgvector, undefined, migrated);
}

async function emptied(
  started: Promise<InProcess>,
  cipher: Cipher | undefined,
  migrated: boolean,
): Promise<Db> {
  const place = await started;
  const { server } = place;
  if (migrated && place.isReusable) await server.exec(EMPTY_TABLES);
  else await server.exec('drop schema public cascade; create schema public');
  if (migrated && !place.isReusable) await server.exec(await migrationScript());
  place.isReusable = migrated;
  return watchingSchema(postgresDb(pgliteDriver(server), cipher), () => {
    place.isReusable = false;
  });
}

function pgliteDriver(pglite: PGlite): PostgresDriver {
  return {
    ...pgliteSession(pglite),
    transaction: (_durability, body) => pglite.transaction((tx) => withDeferred(pgliteSession(tx), body)),
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

import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  InsufficientStorage,
  InvalidInput,
  StorageBusy,
  StorageRefused,
  Unavailable,
} from '../../src/core/errors.ts';
import { number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { type PostgresDriver, type PostgresSession, postgresDb } from '../../src/db/engines/postgres-db.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { TEST_POSTGRES_URI } from '../support/databases.ts';
import { deadlock } from '../support/deadlock.ts';
import { withDeferred } from '../support/deferred.ts';
import { failure } from '../support/naming.ts';

/** A client library whose statements fail with these codes one after the other, and then work. */
function failingWith(...codes: string[]): Db {
  const session: PostgresSession = {
    async query() {
      const code = codes.shift();
      if (code !== undefined) throw Object.assign(new Error(`error ${code}`), { code });
      return { rows: [{ n: 1 }], changes: 1 };
    },
  };
  const driver: PostgresDriver = {
    ...session,
    transaction: (_durability, body) => withDeferred(session, body),
    close: async () => {},
  };
  return postgresDb(driver);
}

test('a transaction that met a deadlock runs again from its beginning', async () => {
  await using db = failingWith('40P01', '40001');
  let begun = 0;
  const result = await db.transaction('sync', async (tx) => {
    begun++;
    return tx.get(sql`select 1 as n`);
  });
  expect(result).toEqual({ n: 1 });
  expect(begun).toBe(3);
});

test.each(['40P01', '40001'])('a conflict in every retry, %s, is 503', async (code) => {
  await using db = failingWith(...Array(10).fill(code));
  await expect(db.run(sql`delete from notes`)).rejects.toThrow(StorageBusy);
});

test.each(['ECONNREFUSED', '57P01', '40001', '53100'])(
  'a transaction body that fails with %s of another service is not repeated and keeps its error',
  async (code) => {
    await using db = failingWith();
    const theirs = Object.assign(new Error('connect ECONNREFUSED of a key service'), { code });
    let executed = 0;
    const failed = db.transaction('sync', async (tx) => {
      await tx.get(sql`select 1`);
      executed += 1;
      throw theirs;
    });
    await expect(failed).rejects.toBe(theirs);
    expect(executed).toBe(1);
  },
);

test('errors of the environment and of the client are distinguished from our own', async () => {
  const thrownFor = (code: string) =>
    failingWith(code)
      .all(sql`select 1`)
      .catch((error: unknown) => error);
  for (const code of ['57P01', '08006', '53300', '55P03', '57014', 'ECONNREFUSED', 'ETIMEDOUT']) {
    expect(await thrownFor(code), code).toBeInstanceOf(Unavailable);
  }
  expect(await thrownFor('08006')).toMatchObject({ message: expect.stringContaining('cannot be reached') });
  expect(await thrownFor('55P03')).toMatchObject({ message: expect.stringContaining('holds a lock') });
  expect(await thrownFor('57014')).toMatchObject({ message: expect.stringContaining('in time') });
  expect(await thrownFor('22003')).toBeInstanceOf(InvalidInput);
  expect(await thrownFor('53100')).toBeInstanceOf(InsufficientStorage);
  expect(await thrownFor('42P01')).toBeInstanceOf(StorageRefused);
  expect(await thrownFor('42P01')).toMatchObject({ code: '42P01' });
});

test('an unavailable database is 503 at once', async () => {
  // A port that was free a moment ago.
  const listener = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => listener.once('listening', resolve));
  const { port } = listener.address() as { port: number };
  await new Promise((resolve) => listener.close(resolve));

  await using db = openPostgres(`postgres://nobody@127.0.0.1:${port}/none`);
  await expect(db.all(sql`select 1`)).rejects.toThrow(Unavailable);
  await expect(db.transaction('sync', (tx) => tx.run(sql`select 1`))).rejects.toThrow(Unavailable);
});

test('a closed database is 503', async () => {
  const db = openPostgres('postgres://nobody@127.0.0.1:1/none');
  await db[Symbol.asyncDispose]();
  await expect(db.all(sql`select 1`)).rejects.toThrow(Unavailable);
});

/** Ends a connection of the pool as a restart of the database does. */
async function terminate(db: Db, pid: number | undefined): Promise<void> {
  await db.get(sql`select pg_terminate_backend(${pid ?? 0})`);
}

async function backend(reader: Pick<Db, 'get'>): Promise<number | undefined> {
  return (await reader.get(sql`select pg_backend_pid() as ${number('pid')}`))?.pid;
}

/** What only a real server can show; the tests of both engines run there too when one is given. */
function serverTests(uri: string): void {
  test('a connection that breaks in use fails its transaction with 503, and the next one works', async () => {
    await using db = openPostgres(uri);
    await using other = openPostgres(uri);
    const broken = db.transaction('sync', async (tx) => {
      await terminate(other, await backend(tx));
      await tx.get(sql`select 1`);
    });
    await expect(broken).rejects.toThrow(Unavailable);
    expect(await db.get(sql`select 1 as n`)).toEqual({ n: 1 });
  });

  test('an idle connection that breaks causes no error', async () => {
    await using db = openPostgres(uri, { max_connections: 1 });
    await using other = openPostgres(uri);
    const first = await backend(db);
    await terminate(other, first);
    await expect.poll(() => backend(db).catch(() => first)).not.toBe(first);
  });

  test('a transaction whose failed statement was ignored rejects instead of reporting a commit', async () => {
    await using db = openPostgres(uri);
    const ignored = db.transaction('sync', async (tx) => {
      await tx.get(sql`select 1 / 0`).catch(() => {});
    });
    await expect(ignored).rejects.toThrow(failure(Error, 'rolled back'));
  });

  test('a value that cannot be read fails its transaction, and the next one works', async () => {
    await using db = openPostgres(uri);
    const failing = db.transaction('sync', (tx) => tx.get(sql`select 'infinity'::timestamptz as at`));
    await expect(failing).rejects.toThrow(RangeError);
    expect(await db.transaction('sync', (tx) => tx.get(sql`select 1 as n`))).toEqual({ n: 1 });
  });

  test.each(['serializable', 'repeatable read'])(
    'a database whose default isolation level is %s sees read committed statements and transactions',
    async (level) => {
      const there = new URL(uri);
      there.searchParams.set('options', `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`);
      await using db = openPostgres(there.href, { max_connections: 1 });
      const current = sql`select current_setting('transaction_isolation') as level`;
      expect(await db.get(sql`select current_setting('default_transaction_isolation') as level`)).toEqual({
        level,
      });
      expect(await db.get(current)).toEqual({ level: 'read committed' });
      expect(await db.transaction('sync', (tx) => tx.get(current))).toEqual({ level: 'read committed' });
      expect(await db.transaction('snapshot', (tx) => tx.get(current))).toEqual({ level: 'repeatable read' });
      // A lone statement that fails leaves no open transaction behind.
      await expect(db.get(sql`select 1 / 0`)).rejects.toThrow();
      expect(await db.run(sql`create temporary table isolation_test as select 1 as n`)).toBe(1);
      expect(await db.get(sql`select n from isolation_test`)).toEqual({ n: 1 });
      // The doctor executes statements that a transaction refuses.
      await db.run(raw('vacuum isolation_test'));
    },
  );

  test('two transactions in a deadlock both succeed eventually', async () => {
    await using db = openPostgres(uri);
    await db.run(
      raw('drop table if exists lock_test; create table lock_test (id integer primary key, n integer)'),
    );
    await db.run(sql`insert into lock_test values (1, 0), (2, 0)`);
    await deadlock(db, [1, 2], (tx, id) => tx.run(sql`update lock_test set n = n + 1 where id = ${id}`));
    expect(await db.all(sql`select n from lock_test`)).toEqual([{ n: 2 }, { n: 2 }]);
    await db.run(raw('drop table lock_test'));
  });

  test('async transactions do not wait for the disk, and sync ones do', async () => {
    await using db = openPostgres(uri);
    const setting = (durability: 'sync' | 'async') =>
      db.transaction(durability, (tx) => tx.get(sql`select current_setting('synchronous_commit') as waits`));
    expect(await setting('async')).toEqual({ waits: 'off' });
    expect(await setting('sync')).toEqual({ waits: 'on' });
  });

  test('times are the same in every time zone', async () => {
    const there = new URL(uri);
    there.searchParams.set('options', '-c TimeZone=Asia/Kolkata');
    await using db = openPostgres(there.href);
    const row = await db.get(sql`select '2026-01-02T03:04:05.678Z'::timestamptz as at`);
    expect(row).toEqual({ at: '2026-01-02T03:04:05.678Z' });
  });
}

if (TEST_POSTGRES_URI) describe('a real server', () => serverTests(TEST_POSTGRES_URI as string));

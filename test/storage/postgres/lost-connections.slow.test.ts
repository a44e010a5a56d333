import dns from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Unavailable } from '../../../src/core/errors.ts';
import { number } from '../../../src/db/columns.ts';
import type { Db, Transaction } from '../../../src/db/db.ts';
import { openPostgres } from '../../../src/db/engines/postgres.ts';
import { raw, sql } from '../../../src/db/sql.ts';
import { deadlock } from '../../support/deadlock.ts';
import { POSTGRES_BINARIES, type PostgresServer, startPostgres } from '../../support/postgres-server.ts';

describe.runIf(POSTGRES_BINARIES)('a connection to PostgreSQL', () => {
  let server: PostgresServer;
  let admin: Db;
  beforeAll(async () => {
    server = await startPostgres({ fsync: 'off' });
    admin = openPostgres(server.url, { max_connections: 1 });
    await admin.run(raw('create table notes (id integer primary key, n integer not null)'));
  });
  afterAll(async () => {
    await admin?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  async function backend(reader: Pick<Db, 'get'>): Promise<number> {
    return (await reader.get(sql`select pg_backend_pid() as ${number('pid')}`))?.pid ?? 0;
  }

  async function terminate(pid: number): Promise<void> {
    await admin.get(sql`select pg_terminate_backend(${pid}, 5000)`);
  }

  test('that is lost in a transaction is replaced, and the transaction runs again and once', async () => {
    const retries: string[] = [];
    await using db = openPostgres(server.url, { onRetry: (code) => retries.push(code) });
    let attempts = 0;
    await db.transaction('sync', async (tx) => {
      await tx.run(sql`insert into notes values (1, 1)`);
      if (++attempts === 1) await terminate(await backend(tx));
      await tx.run(sql`update notes set n = n + 1 where id = 1`);
    });
    expect(attempts).toBe(2);
    expect(retries).toHaveLength(1);
    expect(await db.get(sql`select n from notes where id = 1`)).toEqual({ n: 2 });
  });

  test('that is lost before a single write is replaced, and the write happens once', async () => {
    await using db = openPostgres(server.url, { max_connections: 4 });
    await db.run(sql`insert into notes values (2, 0)`);
    for (let round = 1; round <= 20; round++) {
      const pids = await Promise.all([1, 2, 3, 4].map(() => backend(db)));
      await Promise.all(pids.map(terminate));
      await Promise.all([1, 2, 3, 4].map(() => db.run(sql`update notes set n = n + 1 where id = 2`)));
      expect(await db.get(sql`select n from notes where id = 2`)).toEqual({ n: 4 * round });
    }
  });

  test('is not retried forever', async () => {
    await using db = openPostgres(server.url);
    const attempts: number[] = [];
    const suicidal = async (tx: Transaction) => {
      attempts.push(await backend(tx));
      await terminate(attempts.at(-1) ?? 0);
      await tx.get(sql`select 1`);
    };
    await expect(db.transaction('sync', suicidal)).rejects.toThrow(Unavailable);
    expect(attempts).toHaveLength(2);
  });

  test('counts each retry by the code of its error', async () => {
    const retries: string[] = [];
    await using db = openPostgres(server.url, { onRetry: (code) => retries.push(code) });
    await db.run(sql`insert into notes values (11, 0), (12, 0)`);
    await deadlock(db, [11, 12], (tx, id) => tx.run(sql`update notes set n = n + 1 where id = ${id}`));
    expect(retries).toEqual(['40P01']);
  });

  test('that is not returned to the pool is waited for only for a limited time', async () => {
    await using db = openPostgres(server.url, { max_connections: 1 });
    const [taken, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = db.transaction('sync', async () => {
      taken.resolve();
      await over.promise;
    });
    await taken.promise;
    const waiting = db.get(sql`select 1 as n`);
    expect(db.stats()).toEqual({ max: 1, open: 1, idle: 0, waiting: 1, queued: 1, errors: 0 });
    await expect(waiting).rejects.toThrow(Unavailable);
    over.resolve();
    await holding;
    expect(await db.get(sql`select 1 as n`)).toEqual({ n: 1 });
    expect(db.stats()).toEqual({ max: 1, open: 1, idle: 1, waiting: 0, queued: 1, errors: 1 });
  });

  test('follows the name of its host to another address', async () => {
    await using moved = await startPostgres({ fsync: 'off' });
    const port = Number(new URL(server.url).port);
    const addresses = { now: '127.0.0.1' };
    // Another machine: the same port at another address of this one.
    const other = createServer((socket) => {
      const onward = connect(Number(new URL(moved.url).port), '127.0.0.1');
      socket.pipe(onward).pipe(socket);
      for (const each of [socket, onward]) each.on('error', () => {});
    });
    await once(other.listen(port, '127.0.0.3'), 'listening');
    expect((other.address() as AddressInfo).port).toBe(port);
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((
      _name: string,
      options: { all?: boolean },
      found: (...result: unknown[]) => void,
    ) => {
      const address = addresses.now;
      if (options.all) found(null, [{ address, family: 4 }]);
      else found(null, address, 4);
    }) as unknown as typeof dns.lookup);
    try {
      await using db = openPostgres(`postgres://postgres@database.test:${port}/postgres`);
      const where = async () =>
        ((await db.get(sql`select current_setting('port') as port`)) as { port: string }).port;
      expect(await where()).toBe(String(port));
      addresses.now = '127.0.0.3';
      await terminate(await backend(db));
      expect(await where()).toBe(new URL(moved.url).port);
    } finally {
      lookup.mockRestore();
      other.close();
    }
  });
});

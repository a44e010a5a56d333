import { randomUUID } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../../src/db/engines/postgres.ts';
import { openSqlite } from '../../../src/db/engines/sqlite.ts';
import { sqlitePath } from '../../../src/db/engines/sqlite-files.ts';
import { raw } from '../../../src/db/sql.ts';
import { openTarget } from '../../../src/extensions/operations/copy/databases.ts';
import { examine } from '../../../src/extensions/operations/doctor/doctor.ts';
import { longTransactions } from '../../../src/extensions/operations/doctor/postgres.ts';
import { freePages, writeAheadLog } from '../../../src/extensions/operations/doctor/sqlite.ts';
import { openStorage } from '../../../src/storage/storage.ts';
import { type DatabasesByUrl, databasesByUrl, HAS_POSTGRES } from '../../support/databases-by-url.ts';
import { DOCTOR_RULES, IDS, inMinutes, insert, insertHealthyRows } from '../../support/healthy-rows.ts';
import { naming } from '../../support/naming.ts';
import { PGBOUNCER, startPgBouncer } from '../../support/pgbouncer.ts';
import { POSTGRES_BINARIES, startPostgres } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';

let places: DatabasesByUrl;
beforeAll(async () => {
  places = await databasesByUrl();
});
afterAll(() => places[Symbol.asyncDispose]());

async function healthy(url: string): Promise<string> {
  await using db = await openTarget(url);
  await insertHealthyRows(db);
  return url;
}

async function messages(url: string, fix = false): Promise<string[]> {
  return (await examine({ url, ...DOCTOR_RULES }, { fix })).findings.map(({ message }) => message);
}

describe('the doctor of a SQLite file', () => {
  test('finds a damaged file', async () => {
    const url = await healthy(places.sqlite());
    const path = sqlitePath(url) as string;
    const bytes = readFileSync(path);
    // The root of an index: everything else can still be read.
    bytes.fill(0x55, bytes.length - 4096);
    writeFileSync(path, bytes);
    expect(await messages(url)).toEqual([naming('damaged', 'agent-server restore')]);
    bytes.fill(0x55, 100);
    writeFileSync(path, bytes);
    expect(await messages(url)).toEqual([naming('cannot be opened', 'agent-server restore')]);
  });

  test('finds a row that references a missing one', async () => {
    const url = await healthy(places.sqlite());
    const db = new Database(sqlitePath(url) as string);
    db.pragma('foreign_keys = off');
    db.exec(insert('thread_values', { thread_id: IDS.other, value: '{}' }));
    db.close();
    expect(await messages(url)).toEqual([naming('thread_values', 'missing', 'threads')]);
  });

  test('truncates a large write-ahead log', async () => {
    const url = await healthy(places.sqlite());
    const path = sqlitePath(url) as string;
    await using server = await openStorage({ url, synchronous: 'normal' });
    await server.secrets.getOrCreate('a', 'b');
    expect(await writeAheadLog({ path })).toEqual([]);
    const [found] = await writeAheadLog({ path }, 0);
    expect(found?.message).toMatch(/^The write-ahead log has \d+ MiB/);
    await found?.fix?.();
    expect(statSync(`${path}-wal`).size).toBe(0);
    expect(await writeAheadLog({ path }, 0)).toEqual([]);
  });

  test('returns free pages to the disk, but not while a server runs', async () => {
    const url = await healthy(places.sqlite());
    const path = sqlitePath(url) as string;
    await using db = openSqlite(path, { synchronous: 'full', shared: true });
    await db.run(raw('create table big (x text)'));
    await db.run(raw(`insert into big select hex(randomblob(1000000)) from (values (1), (2), (3))`));
    await db.run(raw('drop table big'));
    const context = { db, path, is_served: false };
    expect(await freePages(context)).toEqual([]);
    expect((await freePages({ ...context, is_served: true }, 0))[0]?.fix).toBeUndefined();
    const [found] = await freePages(context, 0);
    expect(found).toMatchObject({ check: 'bloat', message: naming('MiB', '--fix') });
    await found?.fix?.();
    expect(await freePages(context, 0)).toEqual([]);
  });

  test.each([
    ['metadata', '{"a":2}', '{"a":1,"b":2}'],
    ['values_summary', '{"city":"Rome"}', '{"city":"Paris","year":1900}'],
  ])('creates a missing trigger of %s, and what it should have maintained', async (column, ...values) => {
    const url = await healthy(places.sqlite());
    const trigger = `threads_${column}_terms_update`;
    const terms = async () => {
      await using db = await openTarget(url);
      return await db.all(raw(`select * from threads_${column}_terms order by term`));
    };
    const before = await terms();
    {
      await using db = await openTarget(url);
      await db.run(raw(`drop trigger ${trigger}`));
      for (const value of values) await db.run(raw(`update threads set ${column} = '${value}'`));
    }
    expect(await messages(url)).toEqual([expect.stringContaining(`${trigger} is missing`)]);
    expect(await messages(url, true)).toEqual([]);
    expect((await terms()).length).toBeGreaterThan(before.length);
  });
});

describe.runIf(HAS_POSTGRES)('the doctor of PostgreSQL', () => {
  test('finds an invalid index and rebuilds it', async () => {
    const url = await healthy(await places.postgres());
    const same = (key_id: string) =>
      insert('api_keys', { key_id, name: 'same', digest: key_id, scope: 'run', created_at: inMinutes(0) });
    await using db = openPostgres(url);
    await db.run(raw(same(randomUUID())));
    await db.run(raw(same(IDS.other)));
    await expect(
      db.run(raw('create unique index concurrently api_keys_name on api_keys (name)')),
    ).rejects.toThrow();
    expect(await messages(url)).toEqual([expect.stringContaining('The index api_keys_name is invalid')]);
    expect(await messages(url, true)).toEqual(
      expect.arrayContaining([naming('api_keys_name', '--fix failed: ')]),
    );
    await db.run(raw(`delete from api_keys where key_id = '${IDS.other}'`));
    expect(await messages(url, true)).toEqual([]);
  });

  test('creates a missing index concurrently with writes', async () => {
    const url = await healthy(await places.postgres());
    const [writer, slow] = [new pg.Client(url), new pg.Client(url)];
    await Promise.all([writer.connect(), slow.connect()]);
    const [metadata, config, now] = ['{}', '{}', inMinutes(0)];
    const times = { created_at: now, updated_at: now, state_updated_at: now };
    const insertThread = (client: pg.Client) =>
      client.query(
        insert('threads', { thread_id: randomUUID(), status: 'idle', metadata, config, ...times }),
      );
    await writer.query('drop index threads_created');
    await slow.query('begin');
    await insertThread(slow);
    const fixed = messages(url, true);
    await until('the index waits for the slow transaction', async () => {
      const { rows } = await writer.query(`select 1 from pg_locks join pg_stat_activity using (pid)
        where not granted and query ilike 'create index %threads_created on%'`);
      return rows.length > 0;
    });
    await writer.query("begin; set local lock_timeout = '5s'");
    await insertThread(writer);
    await writer.query('commit');
    await slow.query('commit');
    expect(await fixed).toEqual([]);
    await Promise.all([writer.end(), slow.end()]);
  });

  async function withManyProcesses(url: string): Promise<string> {
    await using db = openPostgres(await healthy(url));
    const worker = {
      host: 'h',
      pid: 1,
      version: '1',
      slots: 1,
      graph_ids: '[]',
      started_at: inMinutes(0),
      expires_at: inMinutes(1),
    };
    for (let n = 0; n < 60; n++) await db.run(raw(insert('workers', { worker_id: randomUUID(), ...worker })));
    return url;
  }

  test('finds more processes than the database has connections for', async () => {
    const url = await withManyProcesses(await places.postgres());
    expect(await messages(url)).toEqual([
      expect.stringMatching(
        /^60 processes may open 1200 connections, but PostgreSQL has only -?\d+ for them: raise max_connections/,
      ),
    ]);
  });

  test.runIf(POSTGRES_BINARIES && PGBOUNCER)(
    'counts no connections of processes behind PgBouncer',
    async () => {
      await using server = await startPostgres({ fsync: 'off' });
      await withManyProcesses(server.url);
      await using bouncer = await startPgBouncer(server.url);
      expect(await messages(bouncer.urlOf(new URL(server.url).pathname.slice(1)))).toEqual([]);
    },
  );

  // On a server of its own: transactions of others would keep the rows.
  test.runIf(POSTGRES_BINARIES)('finds dead rows left by autovacuum and removes them', async () => {
    await using server = await startPostgres({ fsync: 'off' });
    const url = await healthy(server.url);
    const client = new pg.Client(url);
    await client.connect();
    await client.query('alter table cron_fires set (autovacuum_enabled = off)');
    await client.query(`insert into cron_fires (cron_id, outcome, fired_at)
      select cron_id, 'started', now() from crons, generate_series(1, 15000)`);
    await client.query('delete from cron_fires');
    await client.query('select pg_stat_force_next_flush()');
    await client.query('select 1');
    await client.end();
    expect(await messages(url)).toEqual([naming('cron_fires', '15000 dead rows', 'autovacuum')]);
    expect(await messages(url, true)).toEqual([]);
  });

  test('finds a transaction that is open for too long', async () => {
    const url = await healthy(await places.postgres());
    const client = new pg.Client({ connectionString: url, application_name: `held ${randomUUID()}` });
    await client.connect();
    await client.query('begin');
    await client.query('select 1');
    await using db = openPostgres(url);
    const found = async (minutes: number) =>
      (await longTransactions({ db }, minutes)).filter(({ message }) => message.includes('(held '));
    expect(await found(10)).toEqual([]);
    expect(await found(0)).toEqual([
      { check: 'bloat', level: 'problem', message: expect.stringContaining('idle in transaction') },
    ]);
    await client.query('rollback');
    expect(await found(0)).toEqual([]);
    await client.end();
  });
});

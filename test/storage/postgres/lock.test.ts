import { describe, expect, test } from 'vitest';
import { number } from '../../../src/db/columns.ts';
import { openPostgres } from '../../../src/db/engines/postgres.ts';
import { holdLock, openLockSession } from '../../../src/db/engines/postgres-lock.ts';
import { sql } from '../../../src/db/sql.ts';
import { PostgresRelay } from '../../support/postgres-relay.ts';
import { directPostgresSchema, TEST_POSTGRES_URI } from '../../support/postgres-schema.ts';
import { until } from '../../support/until.ts';

const KEY = 17;
const unexpected = () => {
  throw new Error('nobody else wants it');
};

describe.runIf(TEST_POSTGRES_URI)('the lock of a process', () => {
  test('is held by one process for each schema, until it ends', async () => {
    await using schema = await directPostgresSchema(TEST_POSTGRES_URI as string);
    await using other = await directPostgresSchema(TEST_POSTGRES_URI as string);
    const take = (url: string) => holdLock({ url, key: KEY, onTaken: unexpected });
    const first = await take(schema.url);
    expect(first).toBeDefined();
    expect(await take(schema.url)).toBeUndefined();
    await using elsewhere = await take(other.url);
    expect(elsewhere).toBeDefined();
    await first?.[Symbol.asyncDispose]();
    await using second = await take(schema.url);
    expect(second).toBeDefined();
  });

  test('is taken again after a lost connection, and given up if another process has it', async () => {
    await using schema = await directPostgresSchema(TEST_POSTGRES_URI as string);
    const { url } = schema;
    await using db = openPostgres(url);
    const held = sql`from pg_locks where locktype = 'advisory' and classid = ${KEY}
      and objid::bigint = hashtext(current_schema())::bigint & 4294967295`;
    const holder = async () => (await db.get(sql`select pid as ${number('pid')} ${held}`))?.pid;
    const cut = () => db.all(sql`select pg_terminate_backend(pid)::int as ${number('is_ended')} ${held}`);
    let isTaken = false;
    await using lock = await holdLock({ url, key: KEY, onTaken: () => (isTaken = true), half_open_ms: 200 });
    expect(lock).toBeDefined();
    const before = await holder();
    await cut();
    await until('it is held again', async () => ![undefined, before].includes(await holder()));
    expect(isTaken).toBe(false);

    // It is quick: another one gets in between at some time.
    let rival: AsyncDisposable | undefined;
    while (!rival) {
      await cut();
      rival = await holdLock({ url, key: KEY, onTaken: unexpected });
    }
    await until('it is given up', () => isTaken);
    await rival[Symbol.asyncDispose]();
  });

  test('is released soon after its machine disappears', async () => {
    const client = await openLockSession({ url: TEST_POSTGRES_URI as string });
    const { rows } = await client.query(`select name, setting from pg_settings
      where name like 'tcp_%' order by name`);
    await client.end();
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      tcp_keepalives_count: '2',
      tcp_keepalives_idle: '10',
      tcp_keepalives_interval: '5',
      tcp_user_timeout: '20000',
    });
  });

  test('is checked regularly, so that a silently cut connection is detected', async () => {
    await using schema = await directPostgresSchema(TEST_POSTGRES_URI as string);
    await using relay = await PostgresRelay.listen(schema.url);
    await using db = openPostgres(schema.url);
    let isTaken = false;
    const onTaken = () => (isTaken = true);
    const { url } = relay;
    await using _lock = await holdLock({ url, key: KEY, onTaken, half_open_ms: 200, ask_every_ms: 100 });
    const answers = relay.round_trips;
    await until('it is asked for', () => relay.round_trips > answers + 1);

    relay.silenceOpen();
    await db.all(sql`select pg_terminate_backend(pid)::int as ${number('is_ended')} from pg_locks
      where locktype = 'advisory' and classid = ${KEY}
        and objid::bigint = hashtext(current_schema())::bigint & 4294967295`);
    let rival: AsyncDisposable | undefined;
    while (!rival) rival = await holdLock({ url: schema.url, key: KEY, onTaken: unexpected });
    await until('it is given up', () => isTaken);
    await rival[Symbol.asyncDispose]();
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/core/errors.ts';
import { number, text } from '../../src/db/columns.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { failure } from '../support/naming.ts';
import { PGBOUNCER, type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { POSTGRES_BINARIES, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { startServer } from '../support/server.ts';

/** `TEST_PGBOUNCER=1` has all tests of storage go through one; these are what must hold there in particular. */
describe.runIf(POSTGRES_BINARIES && PGBOUNCER)('behind PgBouncer in transaction mode', () => {
  let server: PostgresServer;
  let bouncer: PgBouncer;
  beforeAll(async () => {
    server = await startPostgres({ fsync: 'off' });
    bouncer = await startPgBouncer(server.url);
  });
  afterAll(async () => {
    await bouncer?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  test('two servers execute and stream runs, and leave no session state behind', async () => {
    const env = { DATABASE_URI: bouncer.urlOf('postgres') };
    await using one = await startServer({ env });
    await using two = await startServer({ env });
    const input = { messages: [{ role: 'user', content: 'hello' }] };
    const { thread_id } = await one.client.threads.create();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? one : two).client.runs.wait(null, 'echo', { input }),
      ),
    );
    const events = [];
    for await (const event of two.client.runs.stream(thread_id, 'echo', { input })) events.push(event.event);

    expect(answers).toHaveLength(20);
    expect(events).toEqual(expect.arrayContaining(['metadata', 'values']));
    expect(one.errors + two.errors).toBe('');
    expect(await two.kill('SIGTERM')).toBe(0);
    await using db = openPostgres(bouncer.urlOf('postgres'));
    const settings = await Promise.all(
      Array.from({ length: 30 }, () =>
        db.get(sql`select current_setting('statement_timeout') as ${text('statement_timeout')},
          current_setting('lock_timeout') as ${text('lock_timeout')},
          current_setting('synchronous_commit') as ${text('synchronous_commit')}`),
      ),
    );
    expect(new Set(settings.map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify({ statement_timeout: '0', lock_timeout: '0', synchronous_commit: 'on' })]),
    );
    const locks = await db.get(
      sql`select count(*) as ${number('n')} from pg_locks where locktype = 'advisory'`,
    );
    expect(locks).toEqual({ n: 0 });
  });

  test('a statement that takes too long is cancelled on the server', async () => {
    await using db = openPostgres(bouncer.urlOf('postgres'));
    const marked = raw(`select pg_sleep(60) /* ${randomUUID()} */`);
    await expect(db.get(marked)).rejects.toThrow(failure(Unavailable, 'in time'));
    const alone = sql`select count(*) as ${number('n')} from pg_stat_activity
      where state = 'active' and query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`;
    expect(await db.get(alone)).toEqual({ n: 0 });
  });

  test('the server detects the pooler', async () => {
    await using through = openPostgres(bouncer.urlOf('postgres'));
    await using direct = openPostgres(server.url);
    expect(await through.inspect()).toMatchObject({ is_pooled: true });
    expect(await direct.inspect()).toMatchObject({ is_pooled: false, allowed_connections: 97 });
  });
});

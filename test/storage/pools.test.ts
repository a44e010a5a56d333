import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Migration } from '../../src/db/migrations/index.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { openStorage } from '../../src/storage/storage.ts';
import { directPostgresSchema, postgresSchema, TEST_POSTGRES_URI } from '../support/postgres-schema.ts';
import { newRun, request, successful, WORKER } from '../support/queued-runs.ts';
import { until } from '../support/until.ts';

const URI = TEST_POSTGRES_URI as string;

/** Every connection for requests waits for a lock that somebody else holds; resolves when all do. */
async function occupied(monitor: Db, ask: () => Promise<unknown>): Promise<Promise<unknown>[]> {
  const asked = Array.from({ length: 12 }, ask);
  await until('the connections of requests are taken', async () => {
    const row = await monitor.get(sql`select count(*) as ${number('n')} from pg_stat_activity
      where wait_event_type = 'Lock' and query like '%from threads%'`);
    return Number(row?.n) >= 8;
  });
  return asked;
}

test.runIf(TEST_POSTGRES_URI)(
  'a burst of waiting requests delays neither the end of an attempt nor the renewal of a lease',
  async () => {
    await using schema = await postgresSchema(URI);
    await using storage = await openStorage({ url: schema.url, synchronous: 'full' });
    await using other = openPostgres(schema.url);
    const run = newRun(randomUUID());
    await storage.queue.enqueue(request(run));
    const [claimed] = await storage.work.queue.claim({
      worker_id: WORKER.worker_id,
      token: randomUUID(),
      limit: 1,
    });
    const held = newRun(randomUUID());
    await storage.queue.enqueue(request(held));

    const taken = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const holding = other.transaction('sync', async (tx) => {
      await tx.get(sql`select 1 from threads where thread_id = ${held.thread_id} for update`);
      taken.resolve();
      await over.promise;
    });
    await taken.promise;
    const asked = await occupied(other, () =>
      storage.queue.enqueue(request(newRun(held.thread_id))).catch(() => undefined),
    );
    await storage.work.queue.heartbeat(WORKER, 20_000);
    expect(await storage.work.queue.finish(claimed!.lease, successful())).toMatchObject({
      outcome: 'finished',
    });
    expect(await storage.work.queue.heldLeases(WORKER.worker_id)).toEqual([]);
    over.resolve();
    await holding;
    await Promise.all(asked);
  },
);

// Behind a pooler the server sees the pooler's connections.
const COUNTS_CONNECTIONS = TEST_POSTGRES_URI !== undefined && process.env['TEST_PGBOUNCER'] !== '1';

test.runIf(COUNTS_CONNECTIONS)('a process has fewer than 20 connections under any load', async () => {
  await using schema = await postgresSchema(URI);
  const url = new URL(schema.url);
  const name = `pools ${randomUUID()}`;
  url.searchParams.set('application_name', name);
  await using storage = await openStorage({ url: url.href, synchronous: 'full' });
  const many = <T>(ask: () => Promise<T>) => Promise.all(Array.from({ length: 15 }, ask));
  await Promise.all([
    many(() => storage.ping()),
    many(() => storage.work.queue.stats()),
    many(() => storage.work.queue.heldLeases(WORKER.worker_id)),
  ]);
  await using monitor = openPostgres(URI);
  const row = await monitor.get(
    sql`select count(*) as ${number('n')} from pg_stat_activity where application_name = ${name}`,
  );
  expect(Number(row?.n)).toBeGreaterThan(10);
  expect(Number(row?.n)).toBeLessThan(20);
});

test.runIf(TEST_POSTGRES_URI)(
  'a migration is not ended by time-outs of the server or of its role',
  async () => {
    await using schema = await directPostgresSchema(URI);
    const url = new URL(schema.url);
    const options = `${url.searchParams.get('options')} -c statement_timeout=100 -c lock_timeout=100`;
    url.searchParams.set('options', options);
    const slow: Migration = { version: 1, name: 'slow', text: 'select pg_sleep(0.3);\n' };
    await using patient = openPostgres(url.href, { no_timeouts: true, max_connections: 1 });
    await migrate(patient, [slow]);
    expect(await patient.all(sql`select version from schema_migrations`)).toEqual([{ version: 1 }]);
    // Elsewhere they are what they were.
    expect(await patient.get(raw('show statement_timeout'))).toEqual({ statement_timeout: '100ms' });
  },
);

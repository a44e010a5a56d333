import { describe, expect, test } from 'vitest';
import { number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { sql } from '../../src/db/sql.ts';
import type { HttpClient } from '../support/http-client.ts';
import { POSTGRES_BINARIES, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { anyOf } from './clients.ts';
import { InsistentClients } from './insistent-clients.ts';
import { startChaosServer } from './server.ts';
import { IS_FULL, sized } from './size.ts';
import { spread } from './spread.ts';
import { expectWhole, TEN_STEPS, untilStep } from './ten-steps.ts';
import { violations } from './violations.ts';

/** What is committed asynchronously stays in memory until something is committed that must be on disk. */
const SETTINGS = { wal_writer_delay: '10s' };

describe.runIf(POSTGRES_BINARIES)('a PostgreSQL that crashes', () => {
  test('runs continue from what the database kept, not from writes that it lost', async () => {
    await using postgres = await startPostgres(SETTINGS);
    await using db = openPostgres(postgres.url);
    await using server = await startChaosServer({ DATABASE_URI: postgres.url });
    const body = { ...TEN_STEPS, stream_resumable: false, config: { configurable: { step_ms: 200 } } };
    const runs = await Promise.all(Array.from({ length: sized(5, 10) }, () => startRun(server.http, body)));
    for (const run of runs) await untilStep(server.http, run, 4);
    await postgres.crash();
    for (const run of runs) await expectWhole({ http: server.http, db }, run);
    expect(await violations(db)).toEqual({});
  });

  test.runIf(IS_FULL)('one server loses no acknowledged write in seven crashes', async () => {
    await using postgres = await startPostgres(SETTINGS);
    await using server = await startChaosServer(environment(postgres));
    await surviveCrashes(postgres, server.http, server.process.url);
  });

  test.runIf(IS_FULL)('two servers lose no acknowledged write in seven crashes', async () => {
    await using postgres = await startPostgres(SETTINGS);
    await using one = await startChaosServer(environment(postgres));
    await using two = await startChaosServer(environment(postgres));
    await using both = await spread(one.process.url, two.process.url);
    await surviveCrashes(
      postgres,
      anyOf(() => [one.http, two.http]),
      both.url,
    );
  });
});

function environment({ url }: PostgresServer) {
  return { DATABASE_URI: url, N_JOBS_PER_WORKER: '40' };
}

const RUNS = 400;
const CRASHES = 7;
const THREADS = 60;

async function surviveCrashes(postgres: PostgresServer, http: HttpClient, url: string): Promise<void> {
  await using db = openPostgres(postgres.url);
  const clients = await InsistentClients.on(url, http, THREADS);
  const body = { ...TEN_STEPS, config: { configurable: { step_ms: 100 } } };
  const creating = clients.create(RUNS, body);
  for (let crash = 1; crash <= CRASHES; crash++) {
    const share = (RUNS * crash) / (CRASHES + 1);
    await until(`${share} runs have ended`, async () => (await endedRuns(db)) >= share);
    await postgres.crash();
  }
  await creating;
  await until('all runs have ended', async () => (await endedRuns(db)) === RUNS);
  await clients.expectWholeStreams();
  await clients.expectWholeStates();
  expect(clients.runs).toHaveLength(RUNS);
  expect(await violations(db)).toEqual({});
}

async function endedRuns(db: Db): Promise<number> {
  const row = await db.get(sql`select count(*) as ${number('n')} from runs where ended_at is not null`);
  return Number(row?.n);
}

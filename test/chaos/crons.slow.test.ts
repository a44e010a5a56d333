import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { number } from '../../src/db/columns.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/databases.ts';
import { type HttpClient, httpClient } from '../support/http-client.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

type Fire = { tick: string; outcome: string; run_id: string; status: string | null };

/** Few at once: a busy machine would answer some of hundreds with 503. */
async function createCrons(http: HttpClient, count: number): Promise<string[]> {
  const cron = { assistant_id: 'echo', schedule: '0 0 1 1 *', input: { x: 1 }, on_run_completed: 'keep' };
  const create = () => http.call<{ cron_id: string }>('POST', '/runs/crons', cron);
  const ids: string[] = [];
  while (ids.length < count) {
    const made = await Promise.all(Array.from({ length: Math.min(20, count - ids.length) }, create));
    ids.push(...made.map(({ cron_id }) => cron_id));
  }
  return ids;
}

function minutesAgo(minutes: number): string {
  return new Date(Date.now() - minutes * 60_000).toISOString();
}

/** While the server is away: as if these times had been the next ones. */
function setNextRuns(database: string, next_run_date: string): void {
  const file = new Database(database);
  file.prepare('update crons set next_run_date = ?').run(next_run_date);
  file.close();
}

test.runIf(TEST_POSTGRES_URI)(
  'four schedulers on one database fire 400 due crons exactly once each',
  async () => {
    await using schema = await postgresSchema(TEST_POSTGRES_URI as string);
    // The first one makes the tables.
    const env = { DATABASE_URI: schema.url, N_JOBS_PER_WORKER: '0' };
    await using one = await startServer({ env });
    await using two = await startServer({ env });
    await using three = await startServer({ env });
    await using four = await startServer({ env });
    using http = httpClient(one.url);
    await createCrons(http, 400);

    await using db = openPostgres(schema.url);
    await db.run(sql`update crons set next_run_date = ${minutesAgo(0.1)}`);
    const count = async (table: string) =>
      (await db.get(sql`select count(*) as ${number('n')} from ${raw(table)}`))?.n;
    await until('all have fired', async () => (await count('cron_fires')) === 400);
    await until('no cron is due', async () => (await count('crons where next_run_date < now()')) === 0);

    expect(await count("cron_fires where outcome = 'started'")).toBe(400);
    expect(await count('runs')).toBe(400);
    expect(await count('run_queue')).toBe(400);
    expect(await count('cron_fires join runs using (run_id)')).toBe(400);
    const lines = () => [one, two, three, four].flatMap(({ log }) => log);
    const fired = () => lines().filter(({ message }) => message === 'cron fired').length;
    await until('all that fired are in the logs', () => fired() >= 400);
    expect(fired()).toBe(400);
  },
);

test('a server that is killed while crons fire creates the remaining runs after its restart, none twice', async () => {
  await using server = await startServer({ storage: 'sqlite' });
  using http = httpClient(server.url);
  const crons = await createCrons(http, 120);
  await server.kill('SIGKILL');
  setNextRuns(server.database, minutesAgo(0.5));

  await server.restart();
  for (const stop of [20, 70]) {
    const fired = () => server.log.filter(({ message }) => message === 'cron fired').length;
    await until(`${stop} have fired`, () => fired() >= stop);
    await server.kill('SIGKILL');
    await server.restart();
  }
  const fires = async () =>
    Promise.all(crons.map((cron_id) => http.call<Fire[]>('GET', `/runs/crons/${cron_id}/runs`)));
  await until('all runs have succeeded', async () => {
    const found = (await fires()).flat();
    return found.length >= crons.length && found.every(({ status }) => status === 'success');
  });
  expect((await fires()).map((of) => of.length)).toEqual(crons.map(() => 1));
  expect(await http.call('POST', '/threads/count', {})).toBe(crons.length);
});

test('a server that was down for hours creates one run for all missed times, and none at the next start', async () => {
  await using server = await startServer({ storage: 'sqlite' });
  using http = httpClient(server.url);
  const [cron_id] = await createCrons(http, 1);
  await http.call('PATCH', `/runs/crons/${cron_id}`, { schedule: '* * * * *' });
  await server.kill('SIGKILL');
  const missed = minutesAgo(600);
  setNextRuns(server.database, missed);
  await server.restart();

  const fires = () => http.call<Fire[]>('GET', `/runs/crons/${cron_id}/runs`);
  const ofMissed = async () => (await fires()).filter(({ tick }) => tick < minutesAgo(5));
  await until('the run has succeeded', async () => (await ofMissed())[0]?.status === 'success');
  await server.kill('SIGKILL');
  await server.restart();
  expect(await ofMissed()).toMatchObject([{ tick: missed, outcome: 'started' }]);
  const { next_run_date } = await http.call<{ next_run_date: string }>('GET', `/runs/crons/${cron_id}`);
  expect(next_run_date > minutesAgo(1)).toBe(true);
});

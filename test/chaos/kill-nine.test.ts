import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { getRun, getThread, listRuns } from '../support/remote-runs.ts';
import { ENGINE_OF_TESTS } from '../support/test-database.ts';
import { runsThroughKills, WHOLE } from './killed-runs.ts';
import { startChaosServer } from './server.ts';

const RUNS = 50;

test('50 background runs survive three kills: none is lost, none applies its input or a step twice', async () => {
  // An unlucky run is there at every kill.
  await using server = await startChaosServer({ BG_JOB_MAX_RETRIES: '5' });
  const { http } = server;

  const { runs, values } = await runsThroughKills(server, RUNS, [5, 20, 35]);

  expect(values).toEqual(runs.map(() => WHOLE));
  const statuses = await Promise.all(runs.map(async (run) => (await getRun(http, run)).status));
  expect(new Set(statuses)).toEqual(new Set(['success']));
  for (const { thread_id } of runs) {
    expect(await getThread(http, thread_id)).toMatchObject({ status: 'idle', values: { n: 10 } });
    expect(await listRuns(http, thread_id)).toHaveLength(1);
  }

  expect(await server.process.kill('SIGTERM')).toBe(0);
  if (ENGINE_OF_TESTS === 'sqlite') {
    using database = opened(server.process.database);
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  }
});

function opened(path: string): Database.Database & Disposable {
  const database = new Database(path, { readonly: true });
  return Object.assign(database, { [Symbol.dispose]: () => database.close() });
}

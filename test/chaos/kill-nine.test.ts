import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { getRun, getThread, joinRun, listRuns, startRun } from '../support/remote-runs.ts';
import { ENGINE_OF_TESTS } from '../support/test-database.ts';
import { until } from '../support/until.ts';
import { startChaosServer } from './server.ts';

const RUNS = 50;

test('50 background runs survive three kills: none is lost, none applies its input or a step twice', async () => {
  // An unlucky run is there at every kill.
  await using server = await startChaosServer({ BG_JOB_MAX_RETRIES: '5' });
  const { http } = server;
  const runs = await Promise.all(Array.from({ length: RUNS }, (_, index) => startRun(http, tenSteps(index))));

  for (const ended of [5, 20, 35]) {
    await until(`${ended} runs have ended`, async () => (await idleThreads()) >= ended);
    expect(await idleThreads()).toBeLessThan(RUNS);
    await server.process.kill('SIGKILL');
    await server.process.restart();
  }

  const values = await Promise.all(runs.map((run) => joinRun(http, run)));
  expect(values).toEqual(runs.map(() => ({ n: 10, executed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] })));
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

  function idleThreads(): Promise<number> {
    return http.call('POST', '/threads/count', { status: 'idle' });
  }
});

/** Runs of different length, so that a kill meets them at different steps. */
function tenSteps(index: number) {
  const config = { configurable: { step_ms: 10 + (index % 7) * 10 } };
  return { assistant_id: 'ten-steps', input: { n: 0 }, config };
}

function opened(path: string): Database.Database & Disposable {
  const database = new Database(path, { readonly: true });
  return Object.assign(database, { [Symbol.dispose]: () => database.close() });
}

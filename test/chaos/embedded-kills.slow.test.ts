import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { httpClient } from '../support/http-client.ts';
import { createThread, joinRun, type RemoteRun, startRun } from '../support/remote-runs.ts';
import { startServer } from '../support/server.ts';
import { sized } from './size.ts';

const KILLS = sized(3, 12);
const RUNS = 10;

test('a server on SQLite that is killed right after its responses has stored all of them', async () => {
  const graphs = { echo: 'test/fixtures/graphs/echo.ts:graph' };
  await using server = await startServer({ graphs, storage: 'sqlite', env: { BG_JOB_MAX_RETRIES: '20' } });
  const acknowledged: RemoteRun[] = [];
  for (let kill = 1; kill <= KILLS; kill++) {
    using http = httpClient(server.url);
    const body = { assistant_id: 'echo', input: { x: kill } };
    const create = async () => {
      const thread_id = await createThread(http);
      acknowledged.push(await startRun(http, body, thread_id));
    };
    await Promise.all(Array.from({ length: RUNS }, create));
    await server.kill('SIGKILL');
    await server.restart();
  }

  using http = httpClient(server.url);
  const values = await Promise.all(acknowledged.map((run) => joinRun(http, run)));
  expect(values).toMatchObject(acknowledged.map(() => ({ log: [expect.any(String), 'b'] })));
  expect(await http.call('POST', '/threads/count', { status: 'idle' })).toBe(KILLS * RUNS);
  expect(await server.kill('SIGTERM')).toBe(0);
  const database = new Database(server.database, { readonly: true });
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  database.close();
});

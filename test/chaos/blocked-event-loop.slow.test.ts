import { expect, test } from 'vitest';
import { attemptsOf, getRun, joinRun, startRun } from '../support/remote-runs.ts';
import { startChaosServer } from './server.ts';

test('a graph that blocks the event loop executes once, and the server answers again afterwards', async () => {
  await using server = await startChaosServer();
  const { http } = server;
  const body = { assistant_id: 'blocks', input: { ms: 6000 }, stream_resumable: true };
  const run = await startRun(http, body);

  expect(await joinRun(http, run)).toMatchObject({ blocked: 1 });
  expect(await getRun(http, run)).toMatchObject({ status: 'success' });
  expect(await attemptsOf(http, run)).toEqual([1]);
  expect(await http.call('GET', '/ok')).toMatchObject({ ok: true });
});

import { expect, test } from 'vitest';
import type { Run } from '../../src/schemas/runs.ts';
import { getThread, joinRun, startRun } from '../support/remote-runs.ts';
import { startChaosServer } from './server.ts';

test('a run that a client creates on the thread of a stateless run executes, and the thread is kept', async () => {
  await using server = await startChaosServer();
  const { http } = server;
  const body = { assistant_id: 'overlap', input: { ms: 5_000, label: 'stateless' } };
  const { thread_id } = await http.call<Run>('POST', '/runs', body);

  const guest = await startRun(
    http,
    { assistant_id: 'overlap', input: { ms: 0, label: 'guest' } },
    thread_id,
  );

  expect(await joinRun(http, guest)).toMatchObject({ most: 1, finished: ['stateless', 'guest'] });
  expect(await getThread(http, thread_id)).toMatchObject({ status: 'idle' });
});

import { expect, test } from 'vitest';
import { getRun, getThread, joinRun, startRun } from '../support/remote-runs.ts';
import { startChaosServer } from './server.ts';

const MAX_ATTEMPTS = 3;

test('in process, a run that crashes the server each time ends as an error, and the other runs continue', async () => {
  await using server = await startChaosServer({
    BG_JOB_MAX_RETRIES: String(MAX_ATTEMPTS),
    AGENT_SERVER_HOSTS: '0',
  });
  const { http } = server;
  const poison = await startRun(http, { assistant_id: 'poison', input: { x: 1 } });

  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    expect(await server.process.exited()).toBe(137);
    await server.process.restart();
  }

  expect(await joinRun(http, poison)).toMatchObject({ __error__: { error: 'WorkerLostError' } });
  expect(await getRun(http, poison)).toMatchObject({ status: 'error' });
  expect(await getThread(http, poison.thread_id)).toMatchObject({
    status: 'error',
    error: { error: 'WorkerLostError' },
  });
  const onItsThread = await startRun(http, { assistant_id: 'echo', input: { x: 2 } }, poison.thread_id);
  expect(await joinRun(http, onItsThread)).toMatchObject({ x: 2, log: ['a:2', 'b'] });
  expect(await getThread(http, poison.thread_id)).toMatchObject({ status: 'idle' });
});

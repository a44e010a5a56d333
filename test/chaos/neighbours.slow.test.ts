import { expect, test } from 'vitest';
import { httpClient } from '../support/http-client.ts';
import { attemptsOf, getRun, getThread, joinRun, startRun } from '../support/remote-runs.ts';
import { startServer } from '../support/server.ts';
import { sized } from './size.ts';

const MAX_ATTEMPTS = 2;
const CULPRITS = sized(1, 2);
const graphs = {
  neighbour: 'test/chaos/graphs/neighbours.ts:neighbour',
  culprit: 'test/chaos/graphs/neighbours.ts:culprit',
};

test('in process, a run that crashes the server each time does not end a concurrent run, which progresses between crashes', async () => {
  await using server = await startServer({
    graphs,
    env: { BG_JOB_MAX_RETRIES: String(MAX_ATTEMPTS), AGENT_SERVER_HOSTS: '0' },
  });
  using http = httpClient(server.url);
  // Each of its steps is on disk before the next one begins.
  const neighbour = await startRun(http, {
    assistant_id: 'neighbour',
    input: { n: 0 },
    durability: 'sync',
    stream_resumable: true,
  });

  for (let number = 1; number <= CULPRITS; number++) {
    const culprit = await startRun(http, { assistant_id: 'culprit', input: { x: 1 } });
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      expect(await server.exited()).toBe(137);
      await server.restart();
    }
    expect(await joinRun(http, culprit)).toMatchObject({ __error__: { error: 'WorkerLostError' } });
    expect(await getRun(http, culprit)).toMatchObject({ status: 'error' });
    expect(await getThread(http, culprit.thread_id)).toMatchObject({ status: 'error' });
  }

  expect(await joinRun(http, neighbour)).toEqual({ n: 12 });
  const attempts = 1 + CULPRITS * MAX_ATTEMPTS;
  expect(await attemptsOf(http, neighbour)).toEqual(
    Array.from({ length: attempts }, (_, before) => before + 1),
  );
});

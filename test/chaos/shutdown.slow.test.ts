import { expect, test } from 'vitest';
import { attemptsOf, joinRun, startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { startChaosServer } from './server.ts';

const RUNS = 10;

test('runs that outlast the grace period of SIGTERM continue after the restart without charging an attempt', async () => {
  await using server = await startChaosServer({ BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '1' });
  const { http } = server;
  const body = {
    assistant_id: 'ten-steps',
    input: { n: 0 },
    config: { configurable: { step_ms: 1_000 } },
    stream_resumable: true,
  };
  const runs = await Promise.all(Array.from({ length: RUNS }, () => startRun(http, body)));
  await until('every run is at work', async () => {
    const states = runs.map(({ thread_id }) =>
      http.call<{ values: { n?: number } }>('GET', `/threads/${thread_id}/state`),
    );
    return (await Promise.all(states)).every(({ values }) => (values.n ?? 0) >= 1);
  });

  expect(await server.process.kill('SIGTERM')).toBe(0);
  await server.process.restart();

  const values = await Promise.all(runs.map((run) => joinRun(http, run)));
  expect(values).toEqual(runs.map(() => ({ n: 10, executed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] })));
  for (const run of runs) expect(await attemptsOf(http, run)).toEqual([1, 1]);
});

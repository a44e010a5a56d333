import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { UsageReport } from '../../src/extensions/usage/schemas.ts';
import type { RunSteps } from '../../src/schemas/steps.ts';
import { httpClient } from '../support/http-client.ts';
import { joinRun, startRun } from '../support/remote-runs.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const RUNS = 20;

test('after kills, usage equals the sum of the stored steps', async () => {
  const config = resolve(import.meta.dirname, '../fixtures/usage/agent.config.yaml');
  await using server = await startServer({ config, env: { BG_JOB_MAX_RETRIES: '5' } });
  using http = httpClient(server.url);
  const input = { calls: ['small', 'large-1', 'nameless', 'small', 'small'], step_ms: 50 };
  const runs = await Promise.all(
    Array.from({ length: RUNS }, () => startRun(http, { assistant_id: 'spender', input })),
  );
  for (const ended of [2, 12]) {
    await until(
      `${ended} runs have ended`,
      async () => (await http.call<number>('POST', '/threads/count', { status: 'idle' })) >= ended,
    );
    await server.kill('SIGKILL');
    await server.restart();
  }
  await Promise.all(runs.map((run) => joinRun(http, run)));

  const sum = { calls: 0, tokens_in: 0, tokens_cached: 0, tokens_out: 0, cost: 0 };
  for (const { run_id } of runs) {
    const { steps } = await http.call<RunSteps>('GET', `/runs/${run_id}/steps`);
    for (const step of steps.filter(({ kind }) => kind === 'model')) {
      sum.calls += 1;
      sum.tokens_in += step.tokens_in ?? 0;
      sum.tokens_cached += step.tokens_cached ?? 0;
      sum.tokens_out += step.tokens_out ?? 0;
      sum.cost += step.cost ?? 0;
    }
  }
  expect(sum.calls).toBeGreaterThanOrEqual(RUNS * input.calls.length);
  const { groups } = await http.call<UsageReport>('GET', '/usage');
  expect(groups).toMatchObject([{ ...sum, cost: expect.closeTo(sum.cost, 9) }]);
});

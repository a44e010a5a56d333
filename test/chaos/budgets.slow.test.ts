import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { RunSteps } from '../../src/schemas/steps.ts';
import { httpClient } from '../support/http-client.ts';
import { joinRun, startRun } from '../support/remote-runs.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

test('a run whose server is killed keeps the budget usage that it had recorded', async () => {
  const config = resolve(import.meta.dirname, '../fixtures/budgets/small.config.yaml');
  await using server = await startServer({ config, env: { BG_JOB_MAX_RETRIES: '5' } });
  using http = httpClient(server.url);
  const input = { calls: Array(20).fill('small'), step_ms: 1_000 };
  const stepsOf = (run_id: string) => http.call<RunSteps>('GET', `/runs/${run_id}/steps`);
  const callsOf = async (run_id: string) =>
    (await stepsOf(run_id)).steps.filter(({ kind }) => kind === 'model').length;

  const run = await startRun(http, { assistant_id: 'spender', input });
  for (const calls of [3, 7]) {
    await until(`${calls} calls are stored`, async () => (await callsOf(run.run_id)) >= calls);
    await server.kill('SIGKILL');
    await server.restart();
  }
  await joinRun(http, run);
  const { summary, error } = await http.call<{ summary: string; error: object }>(
    'GET',
    `/runs/${run.run_id}/explain`,
  );
  expect(error).toMatchObject({ error: 'BudgetExceeded' });
  expect(summary).toContain('used 1000 of 1000 tokens (runs.max_tokens)');
  expect(await callsOf(run.run_id)).toBe(10);
  expect((await stepsOf(run.run_id)).attempts).toHaveLength(3);

  const next = await startRun(http, { assistant_id: 'spender', input });
  await joinRun(http, next);
  expect(await callsOf(next.run_id)).toBe(5);
});

import { expect, test } from 'vitest';
import { usage } from '../../../src/extensions/usage/extension.ts';
import { openApp } from '../../support/app.ts';
import { load, problemsOf } from '../../support/config.ts';

const GRAPHS = 'graphs: { echo: "./echo.ts:graph" }\n';

test.each([
  [
    'of tokens that nothing counts',
    'runs: { record: nodes, budgets: { user_day: { max_tokens: 10 } } }',
    'runs.budgets.user_day.max_tokens: needs runs.record: all or contents, which count tokens, instead of nodes',
  ],
  [
    'of cost without prices',
    'runs: { max_cost: 1 }',
    'runs.max_cost: needs usage.prices: without prices, every call costs 0',
  ],
])('a budget %s is refused', async (_, yaml, problem) => {
  expect(await problemsOf(`${GRAPHS}${yaml}`)).toEqual([`agent.config.yaml: ${problem}`]);
});

test.each([
  [true, 'everything is recorded', ''],
  [true, 'nodes are recorded', 'record: nodes'],
  [true, 'steps are limited', 'record: off, max_steps: 10'],
  [true, 'the steps of a day are limited', 'record: off, budgets: { day: { max_steps: 10 } }'],
  [false, 'nothing is recorded, and there is no budget', 'record: off'],
])('usage is on (%s) if %s', async (isOn, _, runs) => {
  const { config } = await load(`${GRAPHS}runs: { ${runs} }`);
  expect(usage.isEnabled(config)).toBe(isOn);
});

test('a server that counts nothing has no report, and refuses a budget that it would not keep', async () => {
  await using http = await openApp({ graphs: ['echo'], runs: { record: 'off' } });
  const report = await http.get('/usage');
  expect([report.status, report.body.detail]).toEqual([404, expect.stringContaining('runs.record')]);
  const body = { assistant_id: 'echo', input: {}, config: { budget: { max_steps: 5 } } };
  const refused = await http.post('/runs/wait', body);
  expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining('config.budget')]);
});

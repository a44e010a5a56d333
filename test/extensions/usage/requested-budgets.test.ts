import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/usage');
const NONE = { thread: {}, user_day: {}, key_day: {}, day: {} };

/** Each call of a model uses 100 tokens. */
async function serverWith(runs: object = {}) {
  const http = await openApp({
    graphs: ['spender'],
    folder,
    runs: { budgets: NONE, ...runs },
  });
  const thread_id: string = (await http.post('/threads', {})).body.thread_id;
  return {
    http,
    spend: (budget: unknown, assistant_id = 'spender', input: unknown = { calls: CALLS, done: 0 }) =>
      http.post(`/threads/${thread_id}/runs/wait`, { assistant_id, input, config: { budget } }),
    done: async () => (await http.get(`/threads/${thread_id}/state`)).body.values.done,
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}

const CALLS = Array(5).fill('small');

test.each([
  ['tokens', { max_tokens: 250 }, 'used 300 of 250 tokens (config.budget.max_tokens)', 3],
  ['cost', { max_cost: 0.0001 }, ' of 0.0001 EUR (config.budget.max_cost)', 4],
  ['steps', { max_steps: 2 }, 'used 2 of 2 steps (config.budget.max_steps)', 2],
])(
  'a run ends at the budget of %s of its request, and a new run continues',
  async (_, budget, reason, done) => {
    await using server = await serverWith();
    const { body } = await server.spend(budget);
    expect(body.__error__).toEqual({ error: 'BudgetExceeded', message: expect.stringContaining(reason) });
    expect(await server.done()).toBe(done);
    expect((await server.spend(undefined, 'spender', null)).body).toMatchObject({ done: 5 });
  },
);

test('the lower one of the budgets of server, assistant and request applies', async () => {
  await using server = await serverWith({ max_steps: 4 });
  const { http } = server;
  const config = { budget: { max_steps: 3, max_tokens: 1000 } };
  const { assistant_id } = (await http.post('/assistants', { graph_id: 'spender', config })).body;
  const reasonOf = async (budget: unknown, assistant: string) =>
    (await server.spend(budget, assistant)).body.__error__.message;

  expect(await reasonOf(undefined, 'spender')).toContain('4 of 4 steps (runs.max_steps)');
  expect(await reasonOf(undefined, assistant_id)).toContain('3 of 3 steps (config.budget.max_steps)');
  expect(await reasonOf({ max_steps: 4 }, assistant_id)).toContain('3 of 3 steps (config.budget.max_steps)');
  expect(await reasonOf({ max_steps: 2 }, assistant_id)).toContain('2 of 2 steps (config.budget.max_steps)');
  expect(await reasonOf({ max_steps: 4, max_tokens: 100 }, assistant_id)).toContain('100 of 100 tokens');
});

test('a budget above that of the server, or one that cannot be counted, is refused wherever it is set', async () => {
  await using server = await serverWith({ max_steps: 4, record: 'nodes' });
  const { http } = server;
  const at = { assistant_id: 'spender', schedule: '0 0 1 1 *' };
  const of = { graph_id: 'spender' };
  const cron = (await http.post('/runs/crons', at)).body.cron_id;
  const assistant = (await http.post('/assistants', of)).body.assistant_id;
  for (const [budget, detail] of [
    [{ max_steps: 5 }, "config.budget.max_steps: must be at most 4, the server's runs.max_steps"],
    [
      { max_tokens: 5 },
      'config.budget.max_tokens: needs runs.record: all or contents, which count tokens, instead of nodes',
    ],
    [{ max_steps: 0 }, 'config.budget.max_steps: must be a whole number of steps'],
    [{ max_step: 1 }, 'config.budget: may only have max_tokens, max_cost and max_steps'],
  ] as const) {
    const body = { ...at, config: { budget } };
    const answers = [
      await http.post('/runs', body),
      await http.post('/runs/wait', body),
      await http.post('/runs/batch', [body]),
      await http.post('/runs/crons', body),
      await http.patch(`/runs/crons/${cron}`, { config: { budget } }),
      await http.post('/assistants', { ...of, config: { budget } }),
      await http.patch(`/assistants/${assistant}`, { config: { budget } }),
    ];
    for (const each of answers) {
      expect(each.status).toBe(422);
      expect(JSON.stringify(each.body.detail)).toContain(detail);
    }
  }
});

test('a cost budget without prices is refused', async () => {
  const unpriced = resolve(import.meta.dirname, '../../fixtures/budgets');
  await using http = await openApp({ graphs: ['nested'], folder: unpriced });
  const { status, body } = await http.post('/runs/wait', {
    assistant_id: 'nested',
    config: { budget: { max_cost: 1 } },
  });
  expect([status, body.detail]).toEqual([422, expect.stringContaining('needs usage.prices')]);
});

test('each run of a cron has the budget of the cron', async () => {
  await using server = await serverWith();
  const { http } = server;
  const cron = await http.post('/runs/crons', {
    assistant_id: 'spender',
    schedule: '0 0 1 1 *',
    input: { calls: CALLS, done: 0 },
    config: { budget: { max_steps: 2 } },
    on_run_completed: 'keep',
  });
  const { run_id } = (await http.post(`/runs/crons/${cron.body.cron_id}/trigger`)).body;
  await expect
    .poll(async () => (await http.get(`/runs/${run_id}/explain`)).body.summary)
    .toContain('2 of 2 steps (config.budget.max_steps)');
});

test('with `on_budget: interrupt`, a run that reaches the budget of its request interrupts', async () => {
  await using server = await serverWith({ on_budget: 'interrupt' });
  const { body } = await server.spend({ max_steps: 2 });
  expect(body.__interrupt__).toMatchObject([
    { value: { type: 'budget', budget: 'request', limit: 'config.budget.max_steps', max: 2 } },
  ]);
  expect((await server.spend(undefined, 'spender', null)).body).toMatchObject({ done: 5 });
});

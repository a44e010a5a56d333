import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';
import { naming } from '../../support/naming.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/usage');
const KEYS = { AGENT_SERVER_API_KEYS: 'first,second' };
const NONE = { thread: {}, user_day: {}, key_day: {}, day: {} };

interface Limits {
  readonly budgets?: Readonly<Record<string, object>>;
  readonly [key: string]: unknown;
}

/** A server with budgets; each call of a model uses 100 tokens. */
async function serverWith({ budgets, ...runs }: Limits) {
  const limits = { ...runs, budgets: { ...NONE, ...budgets } };
  const http = await openApp({ graphs: ['spender', 'one-node'], folder, environment: KEYS, runs: limits });
  const as = (user: string) => ({ authorization: `Bearer ${user}` });
  return {
    http,
    as,
    thread: async (user = 'alice'): Promise<string> =>
      (await http.post('/threads', {}, as(user))).body.thread_id,
    /** Calls a model so many times, one in each step. */
    spend: (thread_id: string, calls: number, { headers = as('alice'), ...body }: Spend = {}) =>
      http.post(
        thread_id === '' ? '/runs/wait' : `/threads/${thread_id}/runs/wait`,
        { assistant_id: 'spender', input: { calls: Array(calls).fill('small'), done: 0 }, ...body },
        headers,
      ),
    lastRun: async (thread_id: string) => (await http.get(`/threads/${thread_id}/runs`)).body[0],
    state: async (thread_id: string) => (await http.get(`/threads/${thread_id}/state`)).body,
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}

interface Spend {
  headers?: Record<string, string>;
  [field: string]: unknown;
}

const REASON =
  'The run has used 300 of 250 tokens (runs.max_tokens). A new run of the thread with `input: null` continues from its ' +
  'last step. Or raise runs.max_tokens.';

test('a run that reaches its token budget ends after that step, whose result is kept', async () => {
  await using server = await serverWith({ max_tokens: 250 });
  const thread_id = await server.thread();
  const { body } = await server.spend(thread_id, 5);
  expect(body).toEqual({ __error__: { error: 'BudgetExceeded', message: REASON } });
  expect(await server.state(thread_id)).toMatchObject({ values: { done: 3 }, next: ['spend'] });
  const { run_id, status } = await server.lastRun(thread_id);
  expect(status).toBe('error');
  const explained = (await server.http.get(`/runs/${run_id}/explain`)).body;
  expect(explained).toMatchObject({ summary: expect.stringContaining(REASON), attempt: null });
  const { attempts } = (await server.http.get(`/runs/${run_id}/steps`)).body;
  expect(attempts).toHaveLength(1);

  const again = await server.spend(thread_id, 0, { input: null });
  expect(again.body).toMatchObject({ done: 5 });
});

test('a run that reaches its budget in its last step succeeds', async () => {
  await using server = await serverWith({ max_tokens: 250 });
  const thread_id = await server.thread();
  expect((await server.spend(thread_id, 3)).body).toMatchObject({ done: 3 });
  expect((await server.lastRun(thread_id)).status).toBe('success');
});

test.each([
  ['cost', { max_cost: 0.00006 }, /^The run has used 0\.000081 of 0\.00006 EUR \(runs\.max_cost\)/, 3],
  ['steps', { max_steps: 2 }, /^The run has used 2 of 2 steps \(runs\.max_steps\)/, 2],
])('a run that reaches its budget of %s ends', async (_, limits, reason, done) => {
  await using server = await serverWith(limits);
  const thread_id = await server.thread();
  const { body } = await server.spend(thread_id, 5);
  expect(body.__error__).toEqual({ error: 'BudgetExceeded', message: expect.stringMatching(reason) });
  expect((await server.state(thread_id)).values.done).toBe(done);
});

test('a budget of steps works without recorded steps, and with durability `exit`', async () => {
  await using server = await serverWith({ max_steps: 2, record: 'off' });
  for (const durability of ['sync', 'async', 'exit']) {
    const thread_id = await server.thread();
    const { body } = await server.spend(thread_id, 5, { durability });
    expect(body.__error__?.message).toContain('(runs.max_steps)');
    expect((await server.state(thread_id)).values.done).toBe(2);
  }
});

test('the runs of a thread share its budget, and a new run is refused when it is exhausted', async () => {
  await using server = await serverWith({ budgets: { thread: { max_tokens: 450 } } });
  const thread_id = await server.thread();
  expect((await server.spend(thread_id, 3)).body).toMatchObject({ done: 3 });
  const { body } = await server.spend(thread_id, 3);
  const reason = naming('500 of 450 tokens', 'runs.budgets.thread.max_tokens');
  expect(body.__error__.message).toEqual(reason);
  expect((await server.state(thread_id)).values.done).toBe(2);

  const refused = await server.spend(thread_id, 1);
  expect(refused.status).toBe(409);
  expect(refused.body.detail).toEqual(reason);
  expect((await server.spend(await server.thread(), 1)).body).toMatchObject({ done: 1 });
});

test('the runs of a user share a daily budget, and are refused until midnight when it is exhausted', async () => {
  const max = { max_tokens: 400 };
  await using server = await serverWith({ budgets: { user_day: max } });
  expect((await server.spend('', 2)).body).toMatchObject({ done: 2 });
  const { body } = await server.spend('', 3);
  const reason = naming('400 of 400 tokens', 'runs.budgets.user_day.max_tokens');
  expect(body.__error__.message).toEqual(reason);

  const refused = await server.spend('', 1);
  expect(refused.status).toBe(429);
  expect(refused.body.detail).toEqual(reason);
  const wait_s = Number(refused.headers['retry-after']);
  expect(wait_s).toBeGreaterThan(0);
  expect(wait_s).toBeLessThanOrEqual(86_400);
  expect((await server.spend('', 1, { headers: server.as('bob') })).body).toMatchObject({ done: 1 });
});

test('the runs of an API key share a daily budget', async () => {
  await using server = await serverWith({ budgets: { key_day: { max_steps: 3 } } });
  const first = { headers: { 'x-api-key': 'first' } };
  expect((await server.spend('', 2, first)).body).toMatchObject({ done: 2 });
  expect((await server.spend('', 2, first)).body.__error__.message).toEqual(
    naming('3 of 3 steps', 'runs.budgets.key_day.max_steps'),
  );
  expect((await server.spend('', 1, first)).status).toBe(429);
  expect((await server.spend('', 1, { headers: { 'x-api-key': 'second' } })).status).toBe(200);
  expect((await server.spend('', 1)).status).toBe(200);
});

test('all runs share the daily budget of the server', async () => {
  await using server = await serverWith({ budgets: { day: { max_tokens: 200 } } });
  expect((await server.spend('', 2)).body).toMatchObject({ done: 2 });
  expect((await server.spend('', 1, { headers: server.as('bob') })).status).toBe(429);
});

test('a run whose shared budget is exhausted while it is queued ends before its first step', async () => {
  await using server = await serverWith({ concurrency: 1, budgets: { user_day: { max_tokens: 300 } } });
  const [one, other] = [await server.thread(), await server.thread()];
  const results = await Promise.all([server.spend(one, 3), server.spend(other, 3)]);
  const errors = results.map(({ body }) => body.__error__?.error);
  expect(errors.sort()).toEqual(['BudgetExceeded', undefined]);
  const done = [(await server.state(one)).values.done, (await server.state(other)).values.done];
  expect(done.sort()).toEqual([0, 3]);
});

test.each([
  ['its thread is deleted', 'DELETE', ''],
  ['it is deleted', 'DELETE', '/runs/{run_id}'],
  ['it is rolled back', 'POST', '/runs/{run_id}/cancel?action=rollback'],
] as const)(
  'the usage of a run counts for its user even if %s while it executes',
  async (_, method, path) => {
    await using server = await serverWith({ budgets: { user_day: { max_tokens: 250 } } });
    const { http, as } = server;
    const thread_id = await server.thread();
    const given = { assistant_id: 'one-node', input: { calls: ['small', 'small', 'small', 'endless'] } };
    const { run_id } = (await http.post(`/threads/${thread_id}/runs`, given, as('alice'))).body;
    const isCalling = async () =>
      (await http.get(`/runs/${run_id}/steps`)).body.current?.some(
        ({ model }: { model: string }) => model === 'endless',
      );
    await expect.poll(isCalling).toBe(true);
    const { status } = await http.send(method, `/threads/${thread_id}${path.replace('{run_id}', run_id)}`);
    expect(status).toBeLessThan(300);
    const used = async () => (await http.get('/usage?user=alice', as('administrator'))).body.groups[0];
    await expect.poll(used).toMatchObject({ calls: 4, tokens_in: 210, tokens_out: 90, unpriced_calls: 1 });
    const refused = await server.spend('', 1);
    expect(refused.status).toBe(429);
    expect(refused.body.detail).toEqual(naming('300 of 250 tokens', 'runs.budgets.user_day.max_tokens'));
  },
);

test('a budget stops a subgraph between its steps, and a new run continues there', async () => {
  await using http = await openApp({
    graphs: ['nested'],
    folder: resolve(import.meta.dirname, '../../fixtures/budgets'),
    runs: { max_tokens: 250, budgets: NONE },
  });
  const thread_id = await http.thread();
  const wait = async (input: object | null) =>
    (await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'nested', input })).body;
  expect(await wait({ done: 0 })).toEqual({ __error__: { error: 'BudgetExceeded', message: REASON } });
  expect(await wait(null)).toMatchObject({ done: 5 });
});

test('metrics count ended runs by the budget that stopped them', async () => {
  await using server = await serverWith({ max_steps: 1 });
  await server.spend('', 2);
  const { text } = await server.http.get('/metrics');
  expect(text).toContain('agent_server_runs_stopped_by_budget_total{budget="run",limit="max_steps"} 1');
});

import { resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Usage } from '../../../src/extensions/usage/schemas.ts';
import { openApp } from '../../support/app.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/usage');
const http = await openApp({
  graphs: ['spender'],
  folder,
  environment: { AGENT_SERVER_API_KEYS: 'operator' },
  runs: {
    max_tokens: 1_000_000,
    budgets: {
      thread: {},
      user_day: { max_cost: 2 },
      key_day: { max_tokens: 5000 },
      day: { max_steps: 900 },
    },
  },
});
afterAll(() => http[Symbol.asyncDispose]());

const ALICE = { authorization: 'Bearer alice' };
const BOB = { authorization: 'Bearer bob' };
const OPERATOR = { 'x-api-key': 'operator' };

async function thread(headers: Record<string, string>): Promise<string> {
  return (await http.post('/threads', {}, headers)).body.thread_id;
}

async function spend(thread_id: string, calls: readonly string[], headers: Record<string, string>) {
  const body = { assistant_id: 'spender', input: { calls, done: 0 } };
  await http.post(`/threads/${thread_id}/runs/wait`, body, headers);
  return (await http.get(`/threads/${thread_id}/runs`, headers)).body[0].run_id as string;
}

const usageOf = async (run_ids: readonly string[], headers: Record<string, string>) =>
  (await http.post('/usage/runs', { run_ids }, headers)).body;

const SMALL = { tokens_in: 70, tokens_cached: 20, tokens_out: 30 };
const PRICE = (50 * 0.15 + 20 * 0.075 + 30 * 0.6) / 1e6;
const call = (calls: number): Usage => ({
  calls,
  unpriced_calls: 0,
  tokens_in: calls * SMALL.tokens_in,
  tokens_cached: calls * SMALL.tokens_cached,
  tokens_out: calls * SMALL.tokens_out,
  cost: expect.closeTo(calls * PRICE, 12) as number,
});

test('each run and its thread have the tokens and cost of their model calls', async () => {
  const thread_id = await thread(ALICE);
  const one = await spend(thread_id, ['small'], ALICE);
  const two = await spend(thread_id, ['small', 'small'], ALICE);
  const none = await spend(thread_id, [], ALICE);
  const { currency, runs } = await usageOf([two, one, none], ALICE);
  expect(currency).toBe('EUR');
  expect(new Map(runs.map((run: { run_id: string }) => [run.run_id, run]))).toEqual(
    new Map([
      [one, { run_id: one, ...call(1) }],
      [two, { run_id: two, ...call(2) }],
    ]),
  );
  const of = (await http.get(`/threads/${thread_id}/usage`, ALICE)).body;
  expect(of).toEqual({ currency: 'EUR', runs: 2, ...call(3) });

  await http.delete(`/threads/${thread_id}/runs/${one}`);
  expect((await usageOf([one], ALICE)).runs).toEqual([]);
  expect((await http.get(`/threads/${thread_id}/usage`, ALICE)).body).toMatchObject(call(2));
});

test('the usage of runs and threads of others is not shown', async () => {
  const thread_id = await thread(ALICE);
  const run_id = await spend(thread_id, ['small'], ALICE);
  expect((await usageOf([run_id], BOB)).runs).toEqual([]);
  expect((await http.get(`/threads/${thread_id}/usage`, BOB)).status).toBe(404);
  expect((await usageOf([run_id], OPERATOR)).runs).toMatchObject([{ run_id }]);
});

test('a run that is deleted with its thread when it ends has its sum as long as it is listed, for who sees every run', async () => {
  const before = (await http.get('/usage', OPERATOR)).body.groups[0].calls;
  const { headers } = await http.post(
    '/runs/wait',
    { assistant_id: 'spender', input: { calls: ['small'] } },
    ALICE,
  );
  const run_id = String(headers['content-location']).split('/runs/')[1]?.split('/')[0] as string;
  expect((await usageOf([run_id], ALICE)).runs).toEqual([]);
  expect((await usageOf([run_id], OPERATOR)).runs).toEqual([{ run_id, ...call(1) }]);
  expect((await http.get('/usage', OPERATOR)).body.groups[0].calls).toBe(before + 1);
});

test('budgets are reported with their limits and what was used of them today, to users only their own', async () => {
  const carol = { authorization: 'Bearer carol' };
  await spend(await thread(carol), ['small', 'small'], carol);
  const { key, key_id } = (await http.post('/keys', { name: 'backend' }, OPERATOR)).body;
  await spend(await thread({ 'x-api-key': key }), ['small'], { 'x-api-key': key });
  const none = { max_tokens: null, max_cost: null, max_steps: null };
  const all = (await http.get('/usage/budgets', OPERATOR)).body;
  expect(all).toMatchObject({ currency: 'EUR', run: { ...none, max_tokens: 1_000_000 }, thread: null });
  const own = {
    ...{ ...none, scope: 'user_day', subject: 'carol', max_cost: 2 },
    ...{ tokens: 200, cost: expect.closeTo(2 * PRICE, 12), steps: expect.any(Number) },
  };
  expect(all.budgets).toContainEqual(own);
  expect(all.budgets).toContainEqual(
    expect.objectContaining({ ...none, scope: 'key_day', subject: key_id, max_tokens: 5000, tokens: 100 }),
  );
  expect(all.budgets[0]).toMatchObject({ ...none, scope: 'day', subject: '', max_steps: 900 });
  expect((await http.get('/usage/budgets', carol)).body.budgets).toEqual([own]);
});

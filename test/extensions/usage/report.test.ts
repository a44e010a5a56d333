import { resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Usage, UsageReport } from '../../../src/extensions/usage/schemas.ts';
import type { RunSteps } from '../../../src/schemas/steps.ts';
import { openApp } from '../../support/app.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/usage');
const http = await openApp({
  graphs: ['spender', 'one-node'],
  folder,
  environment: { AGENT_SERVER_API_KEYS: 'operator' },
});
afterAll(() => http[Symbol.asyncDispose]());

const MODELS = ['small', 'large-2026', 'nameless'];
const TODAY = new Date().toISOString().slice(0, 10);

const as = (user: string) => ({ authorization: `Bearer ${user}` });

/** Executes a run to its end; its id. */
async function spend(user: string, calls: readonly string[], { thread_id = '', ...body } = {}) {
  const path = thread_id ? `/threads/${thread_id}/runs/wait` : '/runs/wait';
  const { headers } = await http.post(path, { assistant_id: 'spender', input: { calls }, ...body }, as(user));
  return String(headers['content-location']).split('/runs/')[1]?.split('/')[0] as string;
}

const report = async (query: string, user = 'administrator'): Promise<UsageReport> =>
  (await http.get(`/usage?${query}`, as(user))).body;

async function sumOfSteps(run_ids: readonly string[]): Promise<Usage> {
  const sum = { calls: 0, unpriced_calls: 0, tokens_in: 0, tokens_cached: 0, tokens_out: 0, cost: 0 };
  for (const run_id of run_ids) {
    const { steps } = (await http.get(`/runs/${run_id}/steps`)).body as RunSteps;
    for (const step of steps.filter(({ kind }) => kind === 'model')) {
      sum.calls += 1;
      if (step.cost === null) sum.unpriced_calls += 1;
      sum.tokens_in += step.tokens_in ?? 0;
      sum.tokens_cached += step.tokens_cached ?? 0;
      sum.tokens_out += step.tokens_out ?? 0;
      sum.cost += step.cost ?? 0;
    }
  }
  return { ...sum, cost: expect.closeTo(sum.cost, 9) as number };
}

test('the usage of random runs equals the sum of their steps, even after deletions', async () => {
  const random = seededRandom(9);
  const kept: string[] = [];
  const of = { alice: [] as string[], bob: [] as string[] };
  let temporary = 0;
  const threads: string[] = [];
  for (let n = 0; n < 20; n++) {
    const user = random() < 0.5 ? 'alice' : 'bob';
    const calls = Array.from(
      { length: Math.floor(random() * 5) },
      () => MODELS[Math.floor(random() * 3)] as string,
    );
    if (random() < 0.3) {
      await spend('carol', calls);
      temporary += calls.length;
      continue;
    }
    const { body } = await http.post('/threads', {}, as(user));
    threads.push(body.thread_id);
    const run_id = await spend(user, calls, { thread_id: body.thread_id });
    kept.push(run_id);
    of[user].push(run_id);
  }
  const carol = (await report('user=carol')).groups;
  expect(carol).toMatchObject([{ calls: temporary, tokens_in: temporary * 70, tokens_out: temporary * 30 }]);
  expect(temporary).toBeGreaterThan(0);

  const before = await report('by=user');
  const alice = { user: 'alice', ...(await sumOfSteps(of.alice)) };
  const bob = { user: 'bob', ...(await sumOfSteps(of.bob)) };
  expect(before.groups.filter(({ user }) => user !== 'carol')).toEqual([alice, bob]);
  const byAll = await report('by=assistant,user,model,day');
  for (const field of ['calls', 'tokens_in', 'tokens_cached', 'tokens_out', 'unpriced_calls'] as const) {
    const sum = (groups: UsageReport['groups']) => groups.reduce((all, group) => all + group[field], 0);
    expect([field, sum(byAll.groups)]).toEqual([field, sum(before.groups)]);
  }

  for (const thread_id of threads) await http.delete(`/threads/${thread_id}`);
  expect(await report('by=user')).toEqual(before);
});

test('a usage report is grouped by the requested keys, in their order', async () => {
  await spend('dora', ['small', 'large-2026', 'small', 'nameless']);
  const { groups, ...rest } = await report('by=day,user,model&user=dora');
  expect(rest).toMatchObject({ currency: 'EUR', to: TODAY, next: null });
  const call = { day: TODAY, user: 'dora', tokens_in: 70, tokens_cached: 20, tokens_out: 30 };
  expect(groups).toEqual([
    { ...call, model: 'large-2026', calls: 1, unpriced_calls: 0, cost: (70 * 2.5 + 30 * 10) / 1e6 },
    { ...call, model: 'nameless', calls: 1, unpriced_calls: 1, cost: 0 },
    {
      ...call,
      model: 'small',
      ...{ calls: 2, unpriced_calls: 0, tokens_in: 140, tokens_cached: 40, tokens_out: 60 },
      cost: (2 * (50 * 0.15 + 20 * 0.075 + 30 * 0.6)) / 1e6,
    },
  ]);
  const first = await report('by=model&user=dora&limit=1');
  expect(first).toMatchObject({ groups: [{ model: 'large-2026' }], next: 1 });
  expect((await report(`by=model&user=dora&limit=1&offset=${first.next}`)).groups).toMatchObject([
    { model: 'nameless' },
  ]);
});

test('usage can be grouped by API key, which is null for runs without a key', async () => {
  const call = (headers: Record<string, string>) =>
    http.post('/runs/wait', { assistant_id: 'spender', input: { calls: ['keyed'] } }, headers);
  const { body: made } = await http.post('/keys', { name: 'backend' }, { 'x-api-key': 'operator' });
  await call({ 'x-api-key': made.key });
  await call({ 'x-api-key': made.key });
  await call(as('kim'));
  const { body: granted } = await http.post('/auth/tokens', { user: 'lea' }, { 'x-api-key': made.key });
  await call({ authorization: `Bearer ${granted.token}` });
  const { groups } = await report('by=key&model=keyed');
  expect(groups).toMatchObject([
    { key_id: '', calls: 1 },
    { key_id: made.key_id, calls: 3 },
  ]);
  expect(JSON.stringify(groups)).not.toContain(made.key);
  expect((await report(`by=user&model=keyed&key=${made.key_id}`)).groups).toMatchObject([
    { user: '', calls: 2 },
    { user: 'lea', calls: 1 },
  ]);
});

test('users see only their own usage', async () => {
  await spend('eve', ['small']);
  await spend('frank', ['small', 'small']);
  expect((await report('by=user', 'eve')).groups).toMatchObject([{ user: 'eve', calls: 1 }]);
  expect((await report('', 'frank')).groups).toMatchObject([{ calls: 2 }]);
  expect((await report('by=user&user=frank', 'eve')).groups).toEqual([]);
});

test('calls that fail are counted as unpriced', async () => {
  await spend('grace', ['small', 'broken']);
  expect((await report('by=model&user=grace')).groups).toMatchObject([
    { model: 'broken', calls: 1, unpriced_calls: 1, cost: 0, tokens_in: 0 },
    { model: 'small', calls: 1, unpriced_calls: 0, tokens_in: 70 },
  ]);
});

test('a call that is cancelled before its end is counted as unpriced', async () => {
  const { body: thread } = await http.post('/threads', {}, as('ivan'));
  const at = `/threads/${thread.thread_id}/runs`;
  const given = { assistant_id: 'one-node', input: { calls: ['small', 'endless'] } };
  const run = `${at}/${(await http.post(at, given, as('ivan'))).body.run_id}`;
  const isCalling = async () =>
    (await http.get(`${run}/steps`)).body.current.some(({ model }: { model: string }) => model === 'endless');
  await expect.poll(isCalling).toBe(true);
  await http.post(`${run}/cancel?wait=1`, undefined, as('ivan'));
  expect((await report('by=model&user=ivan')).groups).toMatchObject([
    { model: 'endless', calls: 1, unpriced_calls: 1, cost: 0, tokens_in: 0 },
    { model: 'small', calls: 1, unpriced_calls: 0, tokens_in: 70 },
  ]);
});

test('the usage of a rolled-back run is counted', async () => {
  const { body } = await http.post('/threads', {}, as('heidi'));
  const at = `/threads/${body.thread_id}/runs`;
  const input = { calls: Array(1000).fill('small'), step_ms: 10 };
  const given = { assistant_id: 'spender', input, config: { recursion_limit: 2000 } };
  const run = `${at}/${(await http.post(at, given, as('heidi'))).body.run_id}`;
  const stored = async () => (await http.get(`${run}/steps`)).body.steps.length;
  await expect.poll(stored).toBeGreaterThan(2);
  await http.post(`${run}/cancel?action=rollback&wait=1`, undefined, as('heidi'));
  expect((await http.get(`${run}/steps`)).status).toBe(404);
  expect((await report('user=heidi')).groups[0]?.calls).toBeGreaterThan(1);
});

test('a usage report of days without usage has zeros, and the first day must not be after the last', async () => {
  const { groups, from, to } = await report('from=2020-02-29&to=2020-03-01');
  expect({ from, to }).toEqual({ from: '2020-02-29', to: '2020-03-01' });
  expect(groups).toEqual([
    { calls: 0, unpriced_calls: 0, tokens_in: 0, tokens_cached: 0, tokens_out: 0, cost: 0 },
  ]);
  expect((await report('by=user&from=2020-02-29&to=2020-03-01')).groups).toEqual([]);
  expect((await http.get('/usage?from=2026-01-02&to=2026-01-01')).status).toBe(422);
  expect((await http.get('/usage?from=2026-02-30')).status).toBe(422);
  expect((await http.get('/usage?by=thread')).status).toBe(422);
});

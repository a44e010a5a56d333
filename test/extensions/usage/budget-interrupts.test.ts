import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';
import { naming } from '../../support/naming.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/usage');
const NONE = { thread: {}, user_day: {}, key_day: {}, day: {} };
const ALICE = { authorization: 'Bearer alice' };

/** A server where a budget asks a person; each call of a model uses 100 tokens, and one step calls one. */
const open = (runs: object) =>
  openApp({ graphs: ['spender'], folder, runs: { on_budget: 'interrupt', budgets: NONE, ...runs } });

type Server = Awaited<ReturnType<typeof open>>;

const run = async (http: Server, thread_id: string, body: object) =>
  (await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'spender', ...body }, ALICE)).body;

const newThread = async (http: Server): Promise<string> =>
  (await http.post('/threads', {}, ALICE)).body.thread_id;

const calls = (count: number) => ({ input: { calls: Array(count).fill('small'), done: 0 } });

test('a run that reaches a budget interrupts, and continues with a fresh budget after an answer', async () => {
  await using http = await open({ max_tokens: 150 });
  const thread_id = await newThread(http);
  const first = await run(http, thread_id, calls(5));
  const interrupt = {
    id: expect.stringMatching(/^budget:/),
    value: {
      type: 'budget',
      run_id: expect.any(String),
      budget: 'run',
      limit: 'runs.max_tokens',
      max: 150,
      used: 200,
      message: expect.stringContaining('used 200 of 150 tokens'),
    },
  };
  expect(first).toMatchObject({ done: 2, __interrupt__: [interrupt] });
  const thread = (await http.get(`/threads/${thread_id}`)).body;
  expect(thread.status).toBe('interrupted');
  expect(Object.values(thread.interrupts)).toEqual([[interrupt]]);
  expect((await http.get(`/threads/${thread_id}/state`)).body.next).toEqual(['spend']);
  const found = (await http.post('/interrupts/search', {})).body;
  expect(found[0]).toMatchObject({ thread_id, value: { type: 'budget' } });

  const [{ run_id, status }] = (await http.get(`/threads/${thread_id}/runs`)).body;
  expect(status).toBe('success');
  const { summary } = (await http.get(`/runs/${run_id}/explain`)).body;
  expect(summary).toEqual(naming('200 of 150 tokens'));

  const second = await run(http, thread_id, { command: { resume: { decision: 'continue' } } });
  expect(second).toMatchObject({ done: 4, __interrupt__: [interrupt] });
  const third = await run(http, thread_id, { input: null });
  expect(third).toMatchObject({ done: 5 });
  expect(third).not.toHaveProperty('__interrupt__');
  expect((await http.get(`/threads/${thread_id}`)).body).toMatchObject({ status: 'idle', interrupts: {} });
});

test('an answer to a budget interrupt does not answer the next interrupt of the graph', async () => {
  await using http = await openApp({
    graphs: ['two-interrupts'],
    folder: resolve(import.meta.dirname, '../../fixtures/budgets'),
    runs: { on_budget: 'interrupt', budgets: NONE, max_steps: 1 },
  });
  const { thread_id } = (await http.post('/threads', {})).body;
  const wait = async (body: object) =>
    (await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'two-interrupts', ...body })).body;
  expect(await wait({ input: {} })).toMatchObject({ __interrupt__: [{ value: { type: 'budget' } }] });
  const asked = await wait({ command: { resume: 'continue' } });
  expect(asked).toMatchObject({ __interrupt__: [{ value: 'really?' }] });
  expect(await wait({ command: { resume: 'yes' } })).toMatchObject({ answer: 'yes' });
});

test('streams report a budget interrupt like any other interrupt', async () => {
  await using http = await open({ max_steps: 1 });
  const thread_id = await newThread(http);
  const body = { assistant_id: 'spender', ...calls(2), stream_mode: ['updates'] };
  const { text } = await http.post(`/threads/${thread_id}/runs/stream`, body, ALICE);
  const events = text.split('\n').filter((line) => line.startsWith('data: {"__interrupt__"'));
  expect(events).toHaveLength(1);
  expect(text).not.toContain('event: error');
});

test('an answer to a budget interrupt is refused while the budget of the day is exhausted, and the thread keeps waiting', async () => {
  await using http = await open({ budgets: { ...NONE, user_day: { max_tokens: 100 } } });
  const thread_id = await newThread(http);
  expect(await run(http, thread_id, calls(2))).toHaveProperty('__interrupt__');
  const refused = await http.post(
    `/threads/${thread_id}/runs/wait`,
    { assistant_id: 'spender', input: null },
    ALICE,
  );
  expect(refused.status).toBe(429);
  expect((await http.get(`/threads/${thread_id}`)).body.status).toBe('interrupted');
});

const THREAD = { budgets: { ...NONE, thread: { max_tokens: 250 } } };

test('each answer to a budget interrupt renews the budget of the thread', async () => {
  await using http = await open(THREAD);
  const thread_id = await newThread(http);
  const reason = naming('300 of 250 tokens', 'interrupt', 'runs.budgets.thread.max_tokens');
  const asked = { __interrupt__: [{ value: { budget: 'thread', used: 300, max: 250, message: reason } }] };
  expect(await run(http, thread_id, calls(7))).toMatchObject({ done: 3, ...asked });
  const other = await http.post(
    `/threads/${thread_id}/runs/wait`,
    { assistant_id: 'spender', ...calls(1) },
    ALICE,
  );
  expect(other).toMatchObject({ status: 409, body: { detail: reason } });

  expect(await run(http, thread_id, { command: { resume: true } })).toMatchObject({ done: 6, ...asked });
  const { checkpoint } = (await http.get(`/threads/${thread_id}/state`)).body;
  const last = await run(http, thread_id, { input: null, checkpoint });
  expect(last).toMatchObject({ done: 7 });
  expect(last).not.toHaveProperty('__interrupt__');
});

test('two concurrent answers to a budget interrupt renew the budget of the thread once', async () => {
  await using http = await open(THREAD);
  const thread_id = await newThread(http);
  await run(http, thread_id, calls(20));
  const answer = { command: { resume: true } };
  const answered = await Promise.all([run(http, thread_id, answer), run(http, thread_id, answer)]);
  for (const each of answered) expect(each).toMatchObject({ done: 6, __interrupt__: [{}] });
});

test('a thread whose last step used up its budget interrupts at its next run', async () => {
  await using http = await open(THREAD);
  const thread_id = await newThread(http);
  expect(await run(http, thread_id, calls(3))).not.toHaveProperty('__interrupt__');
  const next = await run(http, thread_id, calls(1));
  expect(next).toMatchObject({ __interrupt__: [{ value: { budget: 'thread' } }] });
  expect(await run(http, thread_id, { command: { resume: true } })).toMatchObject({ done: 1 });
});

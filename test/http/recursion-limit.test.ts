import { afterAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';

const http = await openApp({
  graphs: ['zod-state', 'circle'],
  runs: { max_recursion_limit: 100 },
  // As an assistant that was made before the limit was lowered.
  environment: { LANGGRAPH_CONFIG: JSON.stringify({ 'zod-state': { recursion_limit: 5000 } }) },
});
afterAll(() => http[Symbol.asyncDispose]());

const BOUNDS = 'must be a whole number of steps from 1 to 100';
const LIMITS = [0, 101, 1_000_000, 2 ** 31, 1.5, '50'];
const config = (recursion_limit: unknown) => ({ config: { recursion_limit } });
const run = (limit: unknown) => ({ assistant_id: 'circle', input: { n: 0 }, ...config(limit) });
const cron = (limit: unknown) => ({ ...run(limit), schedule: '0 0 1 1 *' });

const thread_id = await http.thread();
const { assistant_id } = (await http.post('/assistants', { graph_id: 'circle' })).body;
const { cron_id } = (await http.post('/runs/crons', cron(100))).body;

type Door = [door: string, method: 'POST' | 'PATCH', path: string, body: (limit: unknown) => unknown];
const DOORS: Door[] = [
  ['a run', 'POST', `/threads/${thread_id}/runs`, run],
  ['a run that is waited for', 'POST', `/threads/${thread_id}/runs/wait`, run],
  ['a run that is streamed', 'POST', `/threads/${thread_id}/runs/stream`, run],
  ['a stateless run', 'POST', '/runs', run],
  ['a stateless run that is waited for', 'POST', '/runs/wait', run],
  ['a stateless run that is streamed', 'POST', '/runs/stream', run],
  ['a batch', 'POST', '/runs/batch', (limit) => [run(10), run(limit)]],
  ['an assistant', 'POST', '/assistants', (limit) => ({ graph_id: 'circle', ...config(limit) })],
  ["an assistant's change", 'PATCH', `/assistants/${assistant_id}`, config],
  ['a cron', 'POST', '/runs/crons', cron],
  ['a cron of a thread', 'POST', `/threads/${thread_id}/runs/crons`, cron],
  ["a cron's change", 'PATCH', `/runs/crons/${cron_id}`, config],
];

describe.each(DOORS)('%s', (_door, method, path, body) => {
  test.each(LIMITS)('refuses a recursion_limit of %s', async (limit) => {
    const { status, body: answer } = await http.send(method, path, body(limit));
    expect(status).toBe(422);
    expect(answer.detail).toEqual(naming('config.recursion_limit', 'steps'));
  });

  test('names the limit of the server and accepts that limit', async () => {
    const refused = await http.send(method, path, body(101));
    expect(refused.body.detail).toContain(BOUNDS);
    expect((await http.send(method, path, body(100))).status).toBe(200);
  });
});

test('a command of event streaming above the recursion limit of the server is refused', async () => {
  const command = (limit: unknown) =>
    http.post(`/threads/${thread_id}/commands`, { id: 1, method: 'run.start', params: run(limit) });
  for (const limit of LIMITS) {
    expect((await command(limit)).body).toMatchObject({
      type: 'error',
      message: naming('config.recursion_limit', 'steps'),
    });
  }
  expect((await command(101)).body.message).toContain(BOUNDS);
  expect((await command(100)).body).toMatchObject({ type: 'success' });
});

test('an assistant whose recursion limit exceeds a lowered limit of the server is refused new runs with the reason', async () => {
  const complaint =
    /^config\.recursion_limit of assistant [\w-]+: must be a whole number of steps from 1 to 100$/;
  const direct = await http.post('/runs/wait', { assistant_id: 'zod-state', input: { topic: 'tea' } });
  expect([direct.status, direct.body.detail]).toEqual([422, expect.stringMatching(complaint)]);
  expect(
    (await http.post('/runs/wait', { assistant_id: 'zod-state', input: { topic: 'tea' }, ...config(10) }))
      .status,
  ).toBe(200);
});

import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';

const http = await openApp({ graphs: ['echo', 'interrupting', 'sleeper', 'nested', 'chat', 'delta-chat'] });
afterAll(() => http[Symbol.asyncDispose]());

async function threadAfter(assistant_id: string, input: object): Promise<string> {
  const thread_id = await http.thread();
  await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id, input });
  return thread_id;
}

const idOf = (state: { checkpoint: { checkpoint_id: string } }) => state.checkpoint.checkpoint_id;

test('the state of a thread without runs is empty', async () => {
  const { status, body } = await http.get(`/threads/${await http.thread()}/state`);
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({ values: {}, next: [], tasks: [], checkpoint: null }),
  ]);
});

test('the newest state of a thread includes its interrupts', async () => {
  const thread_id = await threadAfter('interrupting', { x: 1 });
  const { body } = await http.get(`/threads/${thread_id}/state?subgraphs=true`);
  expect(body).toMatchObject({
    values: { x: 1, log: ['a:1'] },
    next: ['ask'],
    checkpoint: { thread_id, checkpoint_ns: '', checkpoint_id: expect.any(String) },
    tasks: [{ name: 'ask', interrupts: [{ value: { question: 'ok?' } }] }],
    interrupts: [{ value: { question: 'ok?' } }],
  });
});

test('an earlier state is read by its checkpoint, in the path or the body', async () => {
  const thread_id = await threadAfter('echo', { x: 1 });
  const { body: history } = await http.get(`/threads/${thread_id}/history`);
  const checkpoint_id = idOf(history[1]);
  const inPath = await http.get(`/threads/${thread_id}/state/${checkpoint_id}`);
  expect(inPath.body).toMatchObject({ values: history[1].values, next: history[1].next });
  const inBody = await http.post(`/threads/${thread_id}/state/checkpoint`, { checkpoint: { checkpoint_id } });
  expect(inBody.body).toEqual(inPath.body);
  const latest = await http.post(`/threads/${thread_id}/state/checkpoint`, { checkpoint: {} });
  expect(idOf(latest.body)).toBe(idOf(history[0]));
  expect((await http.get(`/threads/${thread_id}/state/${crypto.randomUUID()}`)).status).toBe(404);
});

test('the history of a thread has ten states with GET and one with POST by default', async () => {
  const thread_id = await http.thread();
  for (const x of [1, 2, 3]) {
    await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'echo', input: { x } });
  }
  const length = async (answer: ReturnType<typeof http.get>) => (await answer).body.length;
  expect(await length(http.get(`/threads/${thread_id}/history`))).toBe(10);
  expect(await length(http.post(`/threads/${thread_id}/history`, {}))).toBe(1);
  expect(await length(http.get(`/threads/${thread_id}/history?limit=3`))).toBe(3);
  const wrong = await http.get(`/threads/${thread_id}/history?limit=x`);
  expect([wrong.status, wrong.body.detail]).toEqual([422, naming('limit', 1, 1000)]);
});

test('the history before a checkpoint can be requested in every form that clients send', async () => {
  const thread_id = await threadAfter('echo', { x: 1 });
  const { body: history } = await http.get(`/threads/${thread_id}/history`);
  const checkpoint_id = idOf(history[0]);
  const older = history.slice(1).map(idOf);
  const inQuery = await http.get(`/threads/${thread_id}/history?before=${checkpoint_id}`);
  expect(inQuery.body.map(idOf)).toEqual(older);
  for (const before of [checkpoint_id, { checkpoint_id }, { configurable: { checkpoint_id } }]) {
    const { body } = await http.post(`/threads/${thread_id}/history`, { limit: 10, before });
    expect(body.map(idOf)).toEqual(older);
  }
  const byMetadata = await http.post(`/threads/${thread_id}/history`, { limit: 10, metadata: { step: 0 } });
  expect(byMetadata.body).toHaveLength(1);
});

test('the history in a query ignores fields that only a body has', async () => {
  const thread_id = await threadAfter('echo', { x: 1 });
  const { body: history } = await http.get(`/threads/${thread_id}/history`);
  const query = 'metadata=%7B%22step%22%3A9%7D&checkpoint=x';
  expect((await http.get(`/threads/${thread_id}/history?${query}`)).body).toEqual(history);
});

test('the state of a thread can be updated', async () => {
  const thread_id = await threadAfter('echo', { x: 1 });
  const changed = await http.post(`/threads/${thread_id}/state`, { values: { x: 5 }, as_node: 'b' });
  const checkpoint = { thread_id, checkpoint_ns: '', checkpoint_id: expect.any(String) };
  expect([changed.status, changed.body]).toEqual([
    200,
    { checkpoint, configurable: checkpoint, checkpoint_id: expect.any(String) },
  ]);
  expect((await http.get(`/threads/${thread_id}/state`)).body.values).toMatchObject({ x: 5 });
  expect((await http.get(`/threads/${thread_id}`)).body.values).toMatchObject({ x: 5 });
});

test('a state update by an unknown node, or without a graph, is refused', async () => {
  const thread_id = await threadAfter('echo', { x: 1 });
  const wrong = await http.post(`/threads/${thread_id}/state`, { values: { x: 5 }, as_node: 'nobody' });
  expect([wrong.status, wrong.body.detail]).toEqual([400, expect.stringContaining('nobody')]);
  const fresh = await http.post(`/threads/${await http.thread()}/state`, { values: { x: 5 } });
  expect(fresh.status).toBe(400);
});

test('a state update while a run is in flight is refused', async () => {
  const thread_id = await http.thread();
  const { body: run } = await http.post(`/threads/${thread_id}/runs`, {
    assistant_id: 'sleeper',
    input: { ms: 60_000 },
  });
  const refused = await http.post(`/threads/${thread_id}/state`, { values: { label: 'x' } });
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    expect.stringContaining(`Cancel it with POST /threads/${thread_id}/runs/${run.run_id}/cancel`),
  ]);
  await http.post(`/threads/${thread_id}/runs/${run.run_id}/cancel?wait=1`);
});

test('a state and a history have only the requested fields', async () => {
  const thread_id = await threadAfter('echo', { x: 1 });
  const at = `/threads/${thread_id}`;
  expect((await http.get(`${at}/state?select=next&select=values.x`)).body).toEqual({
    next: [],
    values: { x: 1 },
  });
  const { body: whole } = await http.get(`${at}/state`);
  expect((await http.get(`${at}/state?select=`)).body).toEqual(whole);
  const { checkpoint_id } = whole.checkpoint;
  expect((await http.get(`${at}/state/${checkpoint_id}?select=["checkpoint_id"]`)).body).toEqual({
    checkpoint_id,
  });
  const inBody = { checkpoint: { checkpoint_id }, select: ['values.log'] };
  expect((await http.post(`${at}/state/checkpoint`, inBody)).body).toEqual({ values: { log: ['a:1', 'b'] } });
  const byPost = await http.post(`${at}/history`, { limit: 2, select: ['next'] });
  expect(byPost.body).toEqual([{ next: [] }, { next: ['b'] }]);
  expect((await http.get(`${at}/history?limit=1&select=created_at`)).body).toEqual([
    { created_at: whole.created_at },
  ]);
  expect((await http.get(`${at}/state?select=password`)).status).toBe(422);
});

test('the metadata of a thread can be changed by PATCH on its state', async () => {
  const thread_id = await http.thread({ metadata: { a: 1 } });
  const patched = await http.send('PATCH', `/threads/${thread_id}/state`, { metadata: { b: 2 } });
  expect([patched.status, patched.text]).toEqual([204, '']);
  expect((await http.get(`/threads/${thread_id}`)).body.metadata).toEqual({ a: 1, b: 2 });
  const missing = await http.send('PATCH', `/threads/${crypto.randomUUID()}/state`, { metadata: {} });
  expect(missing.status).toBe(404);
  expect((await http.send('PATCH', `/threads/${thread_id}/state`, {})).status).toBe(422);
});

test.each(['chat', 'delta-chat'])(
  'the history of %s equals the single states, for any change of messages',
  async (assistant_id) => {
    const thread_id = await threadAfter(assistant_id, {
      messages: [{ role: 'user', content: 'one', id: 'one' }],
    });
    const change = (messages: object[]) => http.post(`/threads/${thread_id}/state`, { values: { messages } });
    await change([{ role: 'user', content: 'two', id: 'two' }]);
    await change([{ role: 'user', content: 'another one', id: 'one' }]);
    await change([{ type: 'remove', id: 'two' }]);
    await change([{ role: 'user', content: `three ${'and more '.repeat(50)}`, id: 'three' }]);
    await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id, input: { messages: 'four' } });

    const { body: history } = await http.get(`/threads/${thread_id}/history?limit=100`);
    expect(history.length).toBeGreaterThan(8);
    for (const state of history) {
      const { body } = await http.get(`/threads/${thread_id}/state/${idOf(state)}`);
      expect(JSON.stringify(body.values)).toBe(JSON.stringify(state.values));
    }
  },
);

import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { until } from '../support/until.ts';

const CHECKPOINTER = { ttl: { strategy: 'keep_latest', default_ttl: 60, sweep_interval_minutes: 0.01 } };
const http = await openApp({
  graphs: ['echo'],
  environment: { LANGGRAPH_CHECKPOINTER: JSON.stringify(CHECKPOINTER) },
});
afterAll(() => http[Symbol.asyncDispose]());

async function ttlOf(thread_id: string) {
  return (await http.get(`/threads/${thread_id}?include=ttl,unknown`)).body.ttl;
}

test('a thread is deleted when its TTL expires', async () => {
  const thread_id = await http.thread({ ttl: { ttl: 0 } });
  await until('the thread is gone', async () => (await http.get(`/threads/${thread_id}`)).status === 404);
});

test('a thread with strategy keep_latest loses its history when its TTL expires and continues', async () => {
  const thread_id = await http.thread({ ttl: { ttl: 0, strategy: 'keep_latest' } });
  const run = { assistant_id: 'echo', input: { x: 1 } };
  await http.post(`/threads/${thread_id}/runs/wait`, run);
  const history = async () => (await http.post(`/threads/${thread_id}/history`, { limit: 10 })).body;
  await until('the history is gone', async () => (await history()).length === 1);
  expect((await http.post(`/threads/${thread_id}/runs/wait`, run)).body).toMatchObject({
    log: ['a:1', 'b', 'a:1', 'b'],
  });
});

test('the default TTL comes from the configuration, and the expiry is returned only on request', async () => {
  const thread_id = await http.thread();
  expect(await ttlOf(thread_id)).toEqual({
    strategy: 'keep_latest',
    ttl_minutes: 60,
    expires_at: expect.any(String),
  });
  expect((await http.get(`/threads/${thread_id}`)).body.ttl).toBeUndefined();

  await http.patch(`/threads/${thread_id}`, { ttl: { ttl: 5 } });
  expect(await ttlOf(thread_id)).toMatchObject({ strategy: 'delete', ttl_minutes: 5 });
  await http.patch(`/threads/${thread_id}`, { ttl: { strategy: 'keep_latest' } });
  expect(await ttlOf(thread_id)).toMatchObject({ strategy: 'keep_latest', ttl_minutes: 60 });
  const { body: copy } = await http.post(`/threads/${thread_id}/copy`);
  expect(await ttlOf(copy.thread_id)).toMatchObject({ ttl_minutes: 60 });
});

test('a TTL that is a bare number is refused', async () => {
  expect((await http.post('/threads', { ttl: 5 })).status).toBe(422);
  expect((await http.post('/threads', { ttl: { ttl: 5, strategy: 'archive' } })).status).toBe(422);
});

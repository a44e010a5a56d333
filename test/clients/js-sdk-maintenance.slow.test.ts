import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startServer();
  client = new Client({ apiUrl: server.url });
});
afterAll(() => server?.[Symbol.asyncDispose]());

test('the JavaScript SDK starts batches and cancels many runs', async () => {
  const runs = await client.runs.createBatch([
    { assistantId: 'sleeper', input: { ms: 60_000 }, multitaskStrategy: 'enqueue' },
    { assistantId: 'sleeper', input: { ms: 60_000 } },
  ]);
  expect(runs).toHaveLength(2);
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, 'sleeper', { input: { ms: 60_000 } });
  await client.runs.cancelMany({ threadId: thread_id, runIds: [run_id] });
  expect((await client.runs.get(thread_id, run_id)).status).toBe('interrupted');
  await client.runs.cancelMany({ status: 'all' });
  await expect(client.runs.cancelMany({ status: 'all' })).rejects.toMatchObject({ status: 404 });
});

test('the JavaScript SDK creates threads with supersteps and a TTL, patches their state, and prunes them', async () => {
  const { thread_id } = await client.threads.create({
    graphId: 'echo',
    supersteps: [{ updates: [{ values: { x: 1 }, asNode: '__start__' }] }],
    ttl: 60,
  });
  expect((await client.threads.getState(thread_id)).next).toEqual(['a']);
  await client.threads.patchState(thread_id, { topic: 'greetings' });
  const thread = await client.threads.get(thread_id, { include: ['ttl'] });
  expect(thread).toMatchObject({
    metadata: { topic: 'greetings' },
    ttl: { strategy: 'delete', ttl_minutes: 60, expires_at: expect.any(String) },
  });
  await client.runs.wait(thread_id, 'echo', { input: null });
  expect(await client.threads.prune([thread_id], { strategy: 'keep_latest' })).toEqual({ pruned_count: 1 });
  expect(await client.threads.getHistory(thread_id)).toHaveLength(1);
  expect(await client.threads.prune([thread_id])).toEqual({ pruned_count: 1 });
  await expect(client.threads.get(thread_id)).rejects.toThrow('404');
});

test('threads that the JavaScript SDK creates with a TTL are deleted when it expires', async () => {
  const { thread_id } = await client.threads.create({ ttl: { ttl: 60, strategy: 'delete' } });
  await client.threads.update(thread_id, { ttl: 0.0001 });
  const gone = () =>
    client.threads.get(thread_id).then(
      () => false,
      () => true,
    );
  await server.restart();
  client = new Client({ apiUrl: server.url });
  await until('the thread is gone', gone);
});

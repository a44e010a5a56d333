import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const http = await openApp({ graphs: ['echo', 'interrupting', 'sleeper'] });
afterAll(() => http[Symbol.asyncDispose]());

async function ran(assistant_id: string): Promise<string> {
  const thread_id = await http.thread();
  await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id, input: { x: 1 } });
  return thread_id;
}

test('a thread reports the size of its history', async () => {
  const { body } = await http.get(`/threads/${await ran('echo')}/storage`);
  const { checkpoints, channel_values, pending_writes } = body;
  expect(body.total_bytes).toBe(checkpoints.bytes + channel_values.bytes + pending_writes.bytes);
  expect(checkpoints.count).toBeGreaterThan(2);
  expect(channel_values.by_channel.x).toEqual({ versions: expect.any(Number), bytes: expect.any(Number) });

  const thread_id = await http.thread();
  expect((await http.get(`/threads/${thread_id}/storage`)).body).toEqual({
    thread_id,
    total_bytes: 0,
    checkpoints: { count: 0, bytes: 0 },
    channel_values: { count: 0, bytes: 0, by_channel: {} },
    pending_writes: { count: 0, bytes: 0 },
  });
  const nobody = crypto.randomUUID();
  expect(await http.get(`/threads/${nobody}/storage`)).toMatchObject({
    status: 404,
    body: { detail: `Thread with ID ${nobody} not found` },
  });
});

test('a thread pruned to its newest checkpoint continues from it', async () => {
  const thread_id = await ran('interrupting');
  const pruned = await http.post('/threads/prune', { thread_ids: [thread_id], strategy: 'keep_latest' });
  expect([pruned.status, pruned.body]).toEqual([200, { pruned_count: 1 }]);
  expect((await http.post(`/threads/${thread_id}/history`, { limit: 10 })).body).toHaveLength(1);
  expect((await http.get(`/threads/${thread_id}`)).body).toMatchObject({
    status: 'interrupted',
    values: { x: 1 },
  });
  const resume = { assistant_id: 'interrupting', command: { resume: 'yes' } };
  expect((await http.post(`/threads/${thread_id}/runs/wait`, resume)).body).toMatchObject({
    log: ['a:1', 'b:"yes"'],
  });
});

test('pruning with strategy delete deletes all threads or none', async () => {
  const [one, other] = [await ran('echo'), await ran('echo')];
  const missing = await http.post('/threads/prune', { thread_ids: [one, crypto.randomUUID()] });
  expect([missing.status, missing.body]).toEqual([
    404,
    { detail: 'At least one thread not found or not authorized' },
  ]);
  expect((await http.get(`/threads/${one}`)).status).toBe(200);
  expect((await http.post('/threads/prune', { thread_ids: [one, other, one] })).body).toEqual({
    pruned_count: 2,
  });
  expect((await http.get(`/threads/${one}`)).status).toBe(404);
  expect((await http.post('/threads/prune', { thread_ids: ['x'] })).status).toBe(422);
});

test('pruning leaves the history of a busy thread', async () => {
  const thread_id = await http.thread();
  const { body: run } = await http.post(`/threads/${thread_id}/runs`, {
    assistant_id: 'sleeper',
    input: { ms: 60_000 },
  });
  const pruned = await http.post('/threads/prune', { thread_ids: [thread_id], strategy: 'keep_latest' });
  expect(pruned.body).toEqual({ pruned_count: 0 });
  await http.post(`/threads/${thread_id}/runs/${run.run_id}/cancel?wait=1`);
});

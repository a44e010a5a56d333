import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const server = await openApp({ graphs: ['echo'] });
afterAll(() => server[Symbol.asyncDispose]());

const ID = '7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00';
const path = (steps: number) => `metadata${'.a'.repeat(steps - 1)}`;

/** Small requests, each of which would repeat a part of itself for every row of a page. */
test.each([
  ['/threads/search', { extract: { it: `metadata.${'a'.repeat(1000)}` } }, 'extract.it'],
  ['/threads/search', { extract: { it: path(33) } }, '32 steps'],
  ['/threads/search', { extract: { ['a'.repeat(1025)]: 'metadata' } }, 'extract'],
  ['/threads/search', { select: Array(1001).fill('thread_id') }, 'select'],
  ['/threads/search', { ids: Array(10_001).fill(ID) }, 'ids'],
  ['/threads/prune', { thread_ids: Array(10_001).fill(ID) }, 'thread_ids'],
  ['/assistants/search', { select: Array(1001).fill('name') }, 'select'],
  ['/runs/search', { select: Array(1001).fill('run_id') }, 'select'],
  ['/runs/search', { status: Array(1001).fill('error') }, 'status'],
  ['/runs/crons/search', { select: Array(1001).fill('cron_id') }, 'select'],
  ['/interrupts/search', { select: Array(1001).fill('thread_id') }, 'select'],
  ['/interrupts/answers/search', { select: Array(1001).fill('answer') }, 'select'],
  ['/store/items/search', { select: Array(1001).fill('key') }, 'select'],
  ['/store/namespaces', { prefix: Array(101).fill('*') }, 'prefix'],
  ['/runs/batch', Array(10_001).fill({ assistant_id: 'echo' }), 'request body'],
])('%s refuses what is too long: %#', async (url, body, named) => {
  const answer = await server.post(url, body);
  expect([answer.status, answer.body.detail]).toEqual([422, expect.stringContaining(named)]);
});

test('paths of the largest allowed length and number of steps are read', async () => {
  await server.post('/threads', { metadata: { ['a'.repeat(991)]: 1, a: { a: 2 } } });
  const extract = { long: `metadata.${'a'.repeat(991)}`, deep: path(32), short: path(3) };
  const { body } = await server.post('/threads/search', { extract, select: [] });
  expect(body[0].extracted).toEqual({ long: 1, deep: null, short: 2 });
});

test('an id listed twice in a request is looked up once', async () => {
  const { thread_id } = (await server.post('/threads', {})).body;
  const { body } = await server.post('/threads/prune', { thread_ids: Array(10_000).fill(thread_id) });
  expect(body).toEqual({ pruned_count: 1 });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';

let app: Awaited<ReturnType<typeof openApp>>;
beforeAll(async () => {
  app = await openApp({ graphs: ['echo'] });
});
afterAll(() => app[Symbol.asyncDispose]());

const THREAD = '00000000-0000-4000-8000-000000000001';
const LONG = { text: 'x'.repeat(600 * 1024) };
const MANY = { list: Array(12_000).fill(1) };
const HUGE = { text: 'x'.repeat(1_100_000) };
const WIDE = { list: Array(300).fill(1) };
const run = { assistant_id: 'echo', input: {} };

test.each<[string, string, string, (value: object) => object]>([
  ['metadata of an assistant', 'POST', '/assistants', (metadata) => ({ graph_id: 'echo', metadata })],
  ['context of an assistant', 'POST', '/assistants', (context) => ({ graph_id: 'echo', context })],
  [
    'config of an assistant',
    'POST',
    '/assistants',
    (configurable) => ({ graph_id: 'echo', config: { configurable } }),
  ],
  ['metadata of a thread', 'POST', '/threads', (metadata) => ({ metadata })],
  ['a patch of it', 'PATCH', `/threads/${THREAD}`, (metadata) => ({ metadata })],
  ['metadata of a run', 'POST', '/runs/wait', (metadata) => ({ ...run, metadata })],
  ['config of a run', 'POST', '/runs/wait', (configurable) => ({ ...run, config: { configurable } })],
  ['context of a run', 'POST', '/runs/wait', (context) => ({ ...run, context })],
  ['metadata of a cron', 'POST', '/runs/crons', (metadata) => ({ ...run, schedule: '0 0 * * *', metadata })],
])('%s is limited to 512 kB and 10,000 values', async (_what, method, path, body) => {
  for (const value of [LONG, MANY]) {
    const refused = await app.send(method as 'POST', path, JSON.stringify(body(value)));
    expect([refused.status, refused.text]).toEqual([422, naming('512 kB', '10000 values')]);
  }
});

test.each<[string, string, (value: object) => object]>([
  ['/threads/search', 'metadata', (metadata) => ({ metadata })],
  ['/threads/search', 'values', (values) => ({ values })],
  ['/threads/count', 'metadata', (metadata) => ({ metadata })],
  ['/assistants/search', 'metadata', (metadata) => ({ metadata })],
  ['/runs/crons/search', 'metadata', (metadata) => ({ metadata })],
  ['/store/items/search', 'filter', (filter) => ({ namespace_prefix: [], filter })],
])('%s limits its filter %s to 64 kB and 200 values', async (path, _field, body) => {
  for (const value of [LONG, WIDE]) {
    const refused = await app.send('POST', path, JSON.stringify(body(value)));
    expect([refused.status, refused.text]).toEqual([422, naming('64 kB', '200 values')]);
  }
});

test('a store item has its own limit, and an input may be as large as a request', async () => {
  const item = { namespace: ['a'], key: 'k', value: HUGE };
  const refused = await app.send('PUT', '/store/items', JSON.stringify(item));
  expect([refused.status, refused.text]).toEqual([422, naming('1024 kB', '20000 values')]);
  const input = { messages: [{ role: 'user', content: 'x'.repeat(2_000_000) }] };
  expect((await app.post('/runs/wait', { assistant_id: 'echo', input })).status).toBe(200);
});

test('a thread with a long list in its metadata is found by an element, even a repeated one', async () => {
  const of = (list: unknown[]) => ({ metadata: { list } });
  const threads = await Promise.all([
    app.post('/threads', of(Array(9000).fill(1))),
    app.post('/threads', of([...Array(50).keys(), { a: [1, 2] }])),
  ]);
  const found = async (list: unknown[]) =>
    (await app.post('/threads/search', of(list))).body.map(
      ({ thread_id }: { thread_id: string }) => thread_id,
    );
  expect(await found(Array(150).fill(1))).toEqual(expect.arrayContaining([threads[0].body.thread_id]));
  expect(await found([7, { a: [2] }, 49])).toEqual([threads[1].body.thread_id]);
  expect(await found([7, { a: [3] }])).toEqual([]);
});

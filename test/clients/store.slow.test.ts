import { afterAll, beforeAll, expect, test } from 'vitest';
import { printedBy, python } from '../support/python.ts';
import { SDKS } from '../support/sdks.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

test.each(SDKS)('JavaScript SDK %s: every method of the store', async (version, Sdk) => {
  const { store } = new Sdk({ apiUrl: server.url });
  const namespace = ['js', version.replace('.', '-'), 'ada'];
  expect(await store.getItem(namespace, 'tea')).toBeNull();
  await store.putItem(namespace, 'tea', { text: 'likes green tea', cups: 2 });
  await store.putItem(namespace, 'gone', { text: 'is gone' }, { index: false, ttl: -1 });
  await store.putItem(
    [...namespace, 'work'],
    'desk',
    { text: 'stands', cups: 0 },
    { index: ['text'], ttl: 60 },
  );
  expect(await store.getItem(namespace, 'tea', { refreshTtl: true })).toMatchObject({
    namespace,
    key: 'tea',
    value: { text: 'likes green tea', cups: 2 },
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  });
  expect(await store.getItem(namespace, 'gone')).toBeNull();
  const found = await store.searchItems(namespace, {
    filter: { cups: { $gte: 1 } },
    limit: 5,
    offset: 0,
    refreshTtl: false,
  });
  expect(found.items.map(({ key }) => key)).toEqual(['tea']);
  const listed = await store.listNamespaces({ prefix: namespace, suffix: ['work'], maxDepth: 4, limit: 5 });
  expect(listed.namespaces).toEqual([[...namespace, 'work']]);
  await store.deleteItem(namespace, 'tea');
  expect(await store.getItem(namespace, 'tea')).toBeNull();
  await expect(store.putItem(['langgraph'], 'k', {})).rejects.toThrow('langgraph');
});

test.runIf(python)('Python SDK: every method of the store', async () => {
  expect(await printedBy('python_store.py', server.url)).toEqual({
    missing: null,
    got: { namespace: ['py', 'ada'], key: 'tea', value: { text: 'likes green tea', cups: 2 } },
    gone: null,
    found: ['tea'],
    namespaces: [['py', 'ada', 'work']],
    deleted: null,
    refused: 400,
  });
});

test('an acknowledged store item survives kill -9 and is found', async () => {
  const { store } = server.client;
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => store.putItem(['kept'], `${n}`, { text: `number ${n} is kept` })),
  );
  await store.deleteItem(['kept'], '7');
  await server.kill();
  await server.restart();
  const { items } = await server.client.store.searchItems(['kept'], { query: 'kept', limit: 100 });
  expect(items.map(({ key }) => Number(key)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, n) => n).filter((n) => n !== 7),
  );
});

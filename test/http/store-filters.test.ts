import { resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

/** Handlers whose filter says whose an item is by the `owner` in its value; they rewrite no namespace. */
const environment = { LANGGRAPH_AUTH: '{"path":"./limits.ts:auth"}' };
const folder = resolve(import.meta.dirname, '../fixtures/auth');
const ANN = { authorization: 'Bearer ann' };
const BEN = { authorization: 'Bearer ben' };
const AT = { namespace: ['shared', 'ann'], key: 'k' };
const ADDRESS = '/store/items?namespace=shared.ann&key=k';
const ITEM = { ...AT, value: { owner: 'ann', text: 'tea for two' } };

let server: Awaited<ReturnType<typeof openApp>>;
beforeAll(async () => {
  server = await openApp({ graphs: ['echo'], folder, environment });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  expect((await server.send('PUT', '/store/items', ITEM, ANN)).status).toBe(204);
});

const search = (query: object, who: Record<string, string>) => server.post('/store/items/search', query, who);
const namespaces = (query: object, who: Record<string, string>) =>
  server.post('/store/namespaces', query, who);

test('the owner of an item finds it by every route', async () => {
  expect((await server.get(ADDRESS, ANN)).body).toMatchObject(ITEM);
  expect((await search({ namespace_prefix: ['shared'] }, ANN)).body.items).toMatchObject([ITEM]);
  expect((await namespaces({}, ANN)).body.namespaces).toEqual([['shared', 'ann']]);
  expect((await server.send('DELETE', '/store/items', AT, ANN)).status).toBe(204);
  expect((await server.get(ADDRESS, ANN)).body).toBeNull();
});

test('get of an item that the auth filter hides is 404', async () => {
  expect((await server.get(ADDRESS, BEN)).body).toBeNull();
  expect((await server.get(`${ADDRESS}&refresh_ttl=true`, BEN)).body).toBeNull();
});

test.each([
  {},
  { namespace_prefix: ['shared'] },
  { namespace_prefix: AT.namespace },
  { query: 'tea' },
  { filter: { owner: 'ann' } },
  { filter: { owner: { $ne: 'x' } } },
])('search does not find items that the auth filter hides: %j', async (query) => {
  expect((await search(query, BEN)).body).toEqual({ items: [] });
});

test.each([{}, { prefix: ['shared'] }, { suffix: ['ann'] }, { prefix: ['*', 'ann'] }, { max_depth: 1 }])(
  'list_namespaces returns no namespace that the auth filter hides: %j',
  async (query) => {
    expect((await namespaces(query, BEN)).body).toEqual({ namespaces: [] });
  },
);

test('delete keeps an item that the auth filter hides, and answers as for a missing one', async () => {
  const foreign = await server.send('DELETE', '/store/items', AT, BEN);
  const missing = await server.send('DELETE', '/store/items', { ...AT, key: 'none' }, BEN);
  expect([foreign.status, foreign.text]).toEqual([missing.status, missing.text]);
  expect((await server.get(ADDRESS, ANN)).body).toMatchObject(ITEM);
});

test('put neither replaces nor creates an item that the auth filter hides', async () => {
  const over = await server.send('PUT', '/store/items', { ...AT, value: { owner: 'ben' } }, BEN);
  expect([over.status, over.body]).toEqual([409, { detail: 'Conflict' }]);
  const given = { namespace: ['shared', 'ben'], key: 'k', value: { owner: 'ann' } };
  expect((await server.send('PUT', '/store/items', given, BEN)).status).toBe(403);
  expect((await server.send('PUT', '/store/items', { ...given, value: {} }, BEN)).status).toBe(403);
  expect((await server.get(ADDRESS, ANN)).body).toMatchObject(ITEM);
  expect((await search({}, ANN)).body.items).toHaveLength(1);
});

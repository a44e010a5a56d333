import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const http = await openApp({ graphs: ['echo'] });
afterAll(() => http[Symbol.asyncDispose]());

const put = (item: object) => http.send('PUT', '/store/items', item);
const remove = (item: object) => http.send('DELETE', '/store/items', item);
const search = (query: object) => http.post('/store/items/search', query);
const namespaces = (query: object) => http.post('/store/namespaces', query);

async function keys(query: object): Promise<string[]> {
  return (await search(query)).body.items.map((item: { key: string }) => item.key).sort();
}

test('a store item is put, read, replaced and deleted', async () => {
  const at = { namespace: ['users', 'ü 1/2'], key: 'profile' };
  const address = '/store/items?namespace=users.%C3%BC%201%2F2&key=profile';
  expect(await http.get(address)).toMatchObject({ status: 200, text: 'null' });
  expect(await put({ ...at, value: { name: 'Ada', tags: ['a', { b: null }] } })).toMatchObject({
    status: 204,
    text: '',
  });
  const { status, body } = await http.get(address);
  expect([status, body]).toEqual([
    200,
    {
      ...at,
      value: { name: 'Ada', tags: ['a', { b: null }] },
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
  ]);
  await put({ ...at, value: { name: 'Grace' } });
  const { body: replaced } = await http.get(
    '/store/items?key=profile&namespace=users&namespace=%C3%BC%201/2',
  );
  expect(replaced).toMatchObject({ value: { name: 'Grace' }, created_at: body.created_at });

  expect((await remove(at)).status).toBe(204);
  expect((await remove(at)).status).toBe(204);
  expect((await http.get(address)).body).toBeNull();
});

test('the expiry of a store item is returned on request', async () => {
  const at = { namespace: ['expiring'], key: 'soon' };
  const address = '/store/items?namespace=expiring&refresh_ttl=false';
  await put({ ...at, value: {}, ttl: 30 });
  await put({ ...at, key: 'never', value: {} });
  const { ttl, updated_at } = (await http.get(`${address}&key=soon&include=ttl`)).body;
  expect(ttl).toEqual({ ttl_minutes: 30, expires_at: expect.stringMatching(/Z$/) });
  expect(Math.round((Date.parse(ttl.expires_at) - Date.parse(updated_at)) / 1000)).toBe(1800);
  expect((await http.get(`${address}&key=soon`)).body).not.toHaveProperty('ttl');
  expect((await http.get(`${address}&key=never&include=ttl`)).body).not.toHaveProperty('ttl');
});

test('the key of a store item may be empty and have any character except NUL', async () => {
  for (const key of ['', 'a.b', '*', 'ключ 🔑', "'; drop table store_items; --"]) {
    expect((await put({ namespace: ['keys'], key, value: { key } })).status).toBe(204);
    const found = await http.get(`/store/items?namespace=keys&key=${encodeURIComponent(key)}`);
    expect(found.body?.value).toEqual({ key });
  }
});

test('store items are searched below a namespace, by fields of their values, in pages', async () => {
  await put({ namespace: ['find', 'a'], key: 'one', value: { n: 1, kind: 'x' } });
  await put({ namespace: ['find', 'a', 'deep'], key: 'two', value: { n: 2, kind: 'x' } });
  await put({ namespace: ['find', 'ab'], key: 'three', value: { n: 3, kind: 'y' } });
  expect(await keys({ namespace_prefix: ['find', 'a'] })).toEqual(['one', 'two']);
  expect(await keys({ namespace_prefix: ['find'], filter: { n: { $gte: 2 } } })).toEqual(['three', 'two']);
  expect(await keys({ namespace_prefix: ['find'], filter: { kind: 'x', n: { $ne: 1 } } })).toEqual(['two']);
  expect(await keys({ limit: 1000 })).toEqual(expect.arrayContaining(['one', 'three']));
  expect(await keys({ namespace_prefix: null, limit: 1000 })).toContain('two');
  const pages = [0, 2].map((offset) => keys({ namespace_prefix: ['find'], limit: 2, offset }));
  expect((await Promise.all(pages)).flat().sort()).toEqual(['one', 'three', 'two']);
  expect((await search({ namespace_prefix: ['find', 'ab'] })).body).toEqual({
    items: [
      {
        namespace: ['find', 'ab'],
        key: 'three',
        value: { n: 3, kind: 'y' },
        created_at: expect.any(String),
        updated_at: expect.any(String),
        score: null,
      },
    ],
  });
});

test('namespaces of the store are listed by prefix and suffix, up to a depth', async () => {
  for (const namespace of [
    ['tree', 'a', 'x'],
    ['tree', 'b', 'x'],
    ['tree', 'b', 'y'],
  ])
    await put({ namespace, key: 'k', value: {} });
  expect((await namespaces({ prefix: ['tree'], suffix: ['x'] })).body).toEqual({
    namespaces: [
      ['tree', 'a', 'x'],
      ['tree', 'b', 'x'],
    ],
  });
  expect((await namespaces({ prefix: ['tree', '*', 'y'] })).body.namespaces).toEqual([['tree', 'b', 'y']]);
  expect((await namespaces({ prefix: ['tree'], max_depth: 2, limit: 1, offset: 1 })).body.namespaces).toEqual(
    [['tree', 'b']],
  );
  expect((await namespaces({ prefix: null, suffix: null, max_depth: null })).status).toBe(200);
});

const FINE = { namespace: ['a'], key: 'k', value: {} };

test.each([
  [400, { ...FINE, namespace: [] }, 'Namespace cannot be empty.'],
  [400, { ...FINE, namespace: ['langgraph', 'x'] }, 'cannot be "langgraph"'],
  [422, { ...FINE, namespace: ['a', ''] }, 'cannot be empty strings'],
  [422, { ...FINE, namespace: ['a.b'] }, 'cannot contain periods'],
  [422, { ...FINE, namespace: 'a' }, 'namespace: expected array'],
  [422, { ...FINE, namespace: ['x'.repeat(1025)] }, 'namespace[0]: must have at most 1024 characters'],
  [422, { ...FINE, key: 'ü'.repeat(513) }, 'longer than 1024 bytes'],
  [422, { ...FINE, index: Array(101).fill('a') }, 'more than 100 paths'],
  [422, { ...FINE, index: ['['.repeat(257)] }, 'longer than 256 characters'],
  [422, { ...FINE, key: 1 }, 'key: expected string'],
  [422, { ...FINE, value: [1] }, 'value: expected object'],
  [422, { ...FINE, value: null }, 'value: expected object'],
  [422, { ...FINE, index: true }, 'index: expected false or expected array'],
  [
    422,
    { ...FINE, ttl: 'soon' },
    'ttl: must be a number of minutes from -525600000 to 525600000 (1000 years)',
  ],
  [
    422,
    { ...FINE, ttl: 1e300 },
    'ttl: must be a number of minutes from -525600000 to 525600000 (1000 years)',
  ],
  [422, { namespace: ['a'], key: 'k' }, 'value is required'],
])('a put of an invalid store item is %i: %j', async (status, item, detail) => {
  const answer = await put(item);
  expect([answer.status, answer.body]).toEqual([status, { detail: expect.stringContaining(detail) }]);
});

test('an invalid get, delete, search or list of the store is refused with the reason', async () => {
  const answers = [
    [400, await http.get('/store/items?namespace=a'), 'Key is required'],
    [422, await http.get('/store/items?key=k'), 'Namespace cannot be empty.'],
    [422, await http.get('/store/items?key=k&namespace=a..b'), 'cannot be empty strings'],
    [422, await http.get('/store/items?key=k&namespace=a&refresh_ttl=maybe'), 'refresh_ttl'],
    [422, await remove({ key: 'k' }), 'Namespace cannot be empty.'],
    [422, await remove({ namespace: ['a.b'], key: 'k' }), 'cannot contain periods'],
    [422, await search({ namespace_prefix: ['a', ''] }), 'cannot be empty strings'],
    [422, await search({ limit: 0 }), 'limit'],
    [400, await search({ filter: { n: { $in: [1] } } }), 'Unsupported operator: $in'],
    [400, await search({ filter: { n: { $gt: null } } }), '$gt requires a number or a string.'],
    [422, await search({ filter: [] }), 'filter: expected object'],
    [422, await namespaces({ prefix: ['a.b'] }), 'cannot contain periods'],
    [422, await namespaces({ max_depth: 0 }), 'max_depth'],
    [422, await http.send('PUT', '/store/items', '{'), 'Invalid JSON in request body'],
  ] as const;
  for (const [status, answer, detail] of answers) {
    expect([answer.status, answer.body]).toEqual([status, { detail: expect.stringContaining(detail) }]);
  }
});

test('with its routes disabled the store is 404', async () => {
  await using without = await openApp({
    graphs: ['echo'],
    environment: { LANGGRAPH_HTTP: '{"disable_store": true}' },
  });
  expect((await without.get('/store/items?namespace=a&key=k')).status).toBe(404);
  expect((await without.post('/store/items/search', {})).status).toBe(404);
});

import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';

const http = await openApp({ graphs: ['echo'] });
afterAll(() => http[Symbol.asyncDispose]());

const idsOf = (rows: { thread_id: string }[]) => rows.map(({ thread_id }) => thread_id);

test('a thread is created with what it was given', async () => {
  const thread_id = crypto.randomUUID().toUpperCase();
  const { status, body } = await http.post('/threads', { thread_id, metadata: { a: 1, run_id: 'dropped' } });
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({
      thread_id: thread_id.toLowerCase(),
      metadata: { a: 1 },
      status: 'idle',
      values: null,
    }),
  ]);
  expect((await http.get(`/threads/${thread_id}`)).body).toEqual(body);
  const again = await http.post('/threads', { thread_id });
  expect([again.status, again.body.detail]).toEqual([
    409,
    `Thread with ID ${thread_id.toLowerCase()} already exists`,
  ]);
  expect((await http.post('/threads', { thread_id, if_exists: 'do_nothing' })).body).toEqual(body);
});

test('an id of the server is time-ordered', async () => {
  expect(await http.thread()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
});

test('a missing thread is 404, and an invalid id 422', async () => {
  const nobody = crypto.randomUUID();
  const missing = { detail: `Thread with ID ${nobody} not found` };
  for (const path of ['', '/state', '/history', '/runs']) {
    expect([path, (await http.get(`/threads/${nobody}${path}`)).body]).toEqual([path, missing]);
  }
  expect((await http.delete(`/threads/${nobody}`)).body).toEqual(missing);
  expect((await http.patch(`/threads/${nobody}`, {})).body).toEqual({ detail: 'Not Found' });
  const copied = await http.post(`/threads/${nobody}/copy`);
  expect([copied.status, copied.body]).toEqual([409, { detail: 'Conflict' }]);
  for (const path of ['', '/state', '/history', '/runs', '/runs/x', '/runs/x/stream']) {
    const { status, body } = await http.get(`/threads/nobody${path}`);
    expect([path, status, body.detail]).toEqual([
      path,
      422,
      expect.stringMatching(/^Invalid thread ID: must be a UUID/),
    ]);
  }
});

test('metadata is merged; Prefer: return=minimal gives an empty response', async () => {
  const thread_id = await http.thread({ metadata: { a: 1, b: 1 } });
  const merged = await http.patch(`/threads/${thread_id}`, { metadata: { b: 2, c: null } });
  expect(merged.body.metadata).toEqual({ a: 1, b: 2, c: null });
  const quiet = await http.patch(
    `/threads/${thread_id}`,
    { metadata: { d: 1 } },
    { prefer: 'return=minimal' },
  );
  expect([quiet.status, quiet.text]).toEqual([204, '']);
  expect((await http.get(`/threads/${thread_id}`)).body.metadata).toEqual({ a: 1, b: 2, c: null, d: 1 });
});

test('a deleted thread is gone', async () => {
  const thread_id = await http.thread();
  expect((await http.delete(`/threads/${thread_id}`)).status).toBe(204);
  expect((await http.get(`/threads/${thread_id}`)).status).toBe(404);
});

test('a search finds by metadata, status, ids and values, in pages', async () => {
  const batch = crypto.randomUUID();
  const ids = [];
  for (const n of [1, 2, 3]) ids.push(await http.thread({ metadata: { batch, deep: { n, other: true } } }));
  const search = (query: object) =>
    http.post('/threads/search', { sort_by: 'created_at', sort_order: 'asc', ...query });
  expect(idsOf((await search({ metadata: { batch } })).body)).toEqual(ids);
  expect(idsOf((await search({ metadata: { batch, deep: { n: 2 } } })).body)).toEqual([ids[1]]);
  expect(idsOf((await search({ ids: [ids[2]], status: 'idle' })).body)).toEqual([ids[2]]);
  expect((await search({ metadata: { batch }, status: 'busy' })).body).toEqual([]);
  const page = await search({ metadata: { batch }, limit: 2 });
  expect(page.headers).toMatchObject({ 'x-pagination-next': '2', 'x-pagination-total': '3' });
  expect((await http.post('/threads/count', { metadata: { batch } })).body).toBe(3);
  await http.post(`/threads/${ids[0]}/runs/wait`, { assistant_id: 'echo', input: { x: 4711 } });
  expect(idsOf((await search({ metadata: { batch }, values: { x: 4711 } })).body)).toEqual([ids[0]]);
});

test('words of the title find a thread, with its owner’s other conditions, and in pages', async () => {
  const batch = crypto.randomUUID();
  const titles = ['Lunch on Monday', 'Lunch on Friday', 'Dinner on Friday'];
  const ids: string[] = [];
  for (const title of titles) ids.push(await http.thread({ metadata: { batch, title } }));
  const search = async (title: string, more = {}) =>
    http.post('/threads/search', { title, metadata: { batch }, ...more });
  expect(idsOf((await search('fri lunch')).body)).toEqual([ids[1]]);
  expect((await http.post('/threads/count', { title: 'FRIDAY', metadata: { batch } })).body).toBe(2);
  const first = await search('lunch', { limit: 1, cursor: '' });
  expect(idsOf(first.body)).toEqual([ids[1]]);
  const cursor = String(first.headers['x-pagination-next']);
  expect(idsOf((await search('lunch', { limit: 1, cursor })).body)).toEqual([ids[0]]);
  expect((await search('x'.repeat(201))).status).toBe(422);
});

test('pages by cursor have each thread once, whatever changes meanwhile, and sizes on request', async () => {
  const batch = crypto.randomUUID();
  const ids: string[] = [];
  for (const _ of [1, 2, 3, 4, 5]) ids.unshift(await http.thread({ metadata: { batch } }));
  await http.post(`/threads/${ids[4]}/runs/wait`, { assistant_id: 'echo', input: { x: 1 } });
  ids.unshift(ids.pop() as string);
  const search = (cursor: string) =>
    http.post('/threads/search', {
      metadata: { batch },
      limit: 2,
      cursor,
      select: ['thread_id', 'total_bytes'],
    });
  const first = await search('');
  expect(idsOf(first.body)).toEqual(ids.slice(0, 2));
  const [{ total_bytes }, none] = first.body;
  expect(total_bytes).toBe((await http.get(`/threads/${ids[0]}/storage`)).body.total_bytes);
  expect([total_bytes > 100, none.total_bytes]).toEqual([true, 0]);
  // Would shift pages by offset.
  await http.thread({ metadata: { batch } });
  const second = await search(String(first.headers['x-pagination-next']));
  expect(idsOf(second.body)).toEqual(ids.slice(2, 4));
  const last = await search(String(second.headers['x-pagination-next']));
  expect(idsOf(last.body)).toEqual(ids.slice(4));
  expect(last.headers).not.toHaveProperty('x-pagination-next');

  const other = { cursor: String(first.headers['x-pagination-next']), sort_by: 'created_at' };
  expect(await http.post('/threads/search', other)).toMatchObject({
    status: 422,
    body: { detail: naming('cursor', 'X-Pagination-Next') },
  });
  expect((await http.post('/threads/search', { cursor: '', sort_by: 'status' })).body.detail).toBe(
    'cursor: not available when sorting by status. Use "offset", or another "sort_by".',
  );
});

test('a search returns only the fields and the parts that were asked for', async () => {
  const thread_id = await http.thread({ metadata: { a: { b: [1, 2] } } });
  await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'echo', input: { x: 1 } });
  const { body } = await http.post('/threads/search', {
    ids: [thread_id],
    select: ['thread_id', 'status', 'context'],
    extract: { last: 'values.log[-1]', first: 'metadata.a.b[0]', none: 'values.nothing' },
  });
  expect(body).toEqual([{ thread_id, status: 'idle', extracted: { last: 'b', first: 1, none: null } }]);
});

test.each([
  [{ limit: 0 }, /^limit: /],
  [{ limit: 1001 }, /^limit: /],
  [{ limit: '10' }, /^limit: must be a whole number from 1 to 1000$/],
  [{ offset: -1 }, /^offset: /],
  [{ ids: ['x'] }, /^ids\[0\]: must be a UUID/],
  [{ status: 'x' }, /^status: /],
  [{ sort_by: 'x' }, /^sort_by: /],
  [{ select: ['x'] }, /^select\[0\]: /],
  [{ extract: { 'a b': 'values' } }, /alias must be an identifier/],
  [{ extract: { a: 'secrets' } }, /path must start with/],
])('a search for %o is refused', async (query, detail) => {
  const { status, body } = await http.post('/threads/search', query);
  expect([status, body.detail]).toEqual([422, expect.stringMatching(detail)]);
});

test('a copy has the state and the history, and none of the runs', async () => {
  const thread_id = await http.thread({ metadata: { a: 1 } });
  await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'echo', input: { x: 1 } });
  const { body: copy } = await http.post(`/threads/${thread_id}/copy`);
  expect(copy.thread_id).not.toBe(thread_id);
  expect(copy).toMatchObject({ metadata: { a: 1 }, status: 'idle', values: { x: 1 } });
  const history = async (id: string) => (await http.get(`/threads/${id}/history`)).body.length;
  expect(await history(copy.thread_id)).toBe(await history(thread_id));
  expect((await http.get(`/threads/${copy.thread_id}/runs`)).body).toEqual([]);
});

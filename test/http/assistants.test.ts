import { afterAll, expect, test } from 'vitest';
import { systemAssistantId } from '../../src/core/ids.ts';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';

const http = await openApp({ graphs: ['echo', 'nested', 'zod-state', 'broken'] });
afterAll(() => http[Symbol.asyncDispose]());

async function create(changes: object = {}) {
  return (await http.post('/assistants', { graph_id: 'echo', ...changes })).body;
}

test('an assistant is created with the given fields and defaults only', async () => {
  const { status, body } = await http.post('/assistants', {
    graph_id: 'echo',
    name: 'Mine',
    description: 'For me',
    metadata: { team: 'a' },
    config: { tags: ['t'], configurable: { model: 'x' } },
    unknown: 'field',
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    assistant_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/),
    graph_id: 'echo',
    name: 'Mine',
    description: 'For me',
    metadata: { team: 'a' },
    config: { tags: ['t'], configurable: { model: 'x' } },
    context: { model: 'x' },
    version: 1,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect((await http.get(`/assistants/${body.assistant_id}`)).body).toEqual(body);
});

test.each([
  ['an unknown graph', { graph_id: 'x' }, 404, /^Graph 'x' not found\. Expected one of: \['echo'/],
  ['no graph', {}, 422, /^graph_id is required$/],
  [
    'configurable and context',
    { graph_id: 'echo', config: { configurable: { a: 1 } }, context: { b: 1 } },
    400,
    /both/,
  ],
])('creating an assistant with %s is refused', async (_what, payload, status, detail) => {
  const answer = await http.post('/assistants', payload);
  expect([answer.status, answer.body.detail]).toEqual([status, expect.stringMatching(detail)]);
});

test('a client can choose the id of an assistant, once', async () => {
  const assistant_id = crypto.randomUUID();
  const first = await create({ assistant_id });
  const again = await http.post('/assistants', { assistant_id, graph_id: 'nested' });
  expect([again.status, again.body]).toEqual([409, { detail: `Assistant ${assistant_id} already exists` }]);
  const wanted = await http.post('/assistants', {
    assistant_id,
    graph_id: 'nested',
    if_exists: 'do_nothing',
  });
  expect([wanted.status, wanted.body]).toEqual([200, first]);
});

test("each graph has a system assistant that is found by the graph's name", async () => {
  const byName = await http.get('/assistants/echo');
  expect(byName.body).toMatchObject({
    assistant_id: systemAssistantId('echo'),
    name: 'echo',
    metadata: { created_by: 'system' },
  });
  expect((await http.get(`/assistants/${systemAssistantId('echo').toUpperCase()}`)).body).toEqual(
    byName.body,
  );
});

test('a missing assistant is 404, and an invalid id is 422', async () => {
  const nobody = crypto.randomUUID();
  const statusOf = async (path: string) => {
    const { status, body } = await http.get(`/assistants/${path}`);
    return [status, body.detail];
  };
  for (const path of [nobody, `${nobody}/graph`, `${nobody}/schemas`, `${nobody}/subgraphs`]) {
    expect(await statusOf(path)).toEqual([404, 'Not Found']);
  }
  expect(await statusOf('nobody')).toEqual([422, 'Invalid assistant ID: must be a UUID']);
  expect(await statusOf('%00')).toEqual([422, 'Invalid assistant ID: must be a UUID']);
  expect((await http.patch(`/assistants/${nobody}`, {})).body.detail).toBe(`Assistant ${nobody} not found`);
  expect((await http.delete(`/assistants/${nobody}`)).body.detail).toBe(
    `Assistant with ID ${nobody} not found`,
  );
});

test('a search of assistants is paged and reports whether more follow', async () => {
  const metadata = { batch: crypto.randomUUID() };
  for (const name of ['c', 'a', 'b']) await create({ name, metadata });
  const page = (offset: number) =>
    http.post('/assistants/search', { metadata, sort_by: 'name', sort_order: 'asc', limit: 2, offset });
  const first = await page(0);
  expect(first.body.map(({ name }: { name: string }) => name)).toEqual(['a', 'b']);
  expect(first.headers).toMatchObject({ 'x-pagination-next': '2', 'x-pagination-total': '3' });
  const last = await page(2);
  expect(last.body).toHaveLength(1);
  expect(last.headers).toMatchObject({ 'x-pagination-total': '3' });
  expect(last.headers).not.toHaveProperty('x-pagination-next');
  expect((await http.post('/assistants/count', { metadata })).body).toBe(3);
});

test('a search of assistants returns only the requested fields', async () => {
  const { body } = await http.post('/assistants/search', { graph_id: 'nested', select: ['name', 'version'] });
  expect(body).toEqual([{ name: 'nested', version: 1 }]);
  const wrong = await http.post('/assistants/search', { select: ['password'] });
  expect(wrong.status).toBe(422);
});

test('an update of an assistant creates a version, and an earlier one can be made current by body or query', async () => {
  const { assistant_id } = await create({ metadata: { a: 1 } });
  await http.patch(`/assistants/${assistant_id}`, { name: 'second', metadata: { b: 2 } });
  await http.patch(`/assistants/${assistant_id}`, { name: 'third' });
  const versions = await http.post(`/assistants/${assistant_id}/versions`);
  expect(
    versions.body.map(({ version, name }: { version: number; name: string }) => [version, name]),
  ).toEqual([
    [3, 'third'],
    [2, 'second'],
    [1, 'Untitled'],
  ]);
  expect(versions.body[0]).not.toHaveProperty('updated_at');
  const inBody = await http.post(`/assistants/${assistant_id}/latest`, { version: 2 });
  expect(inBody.body).toMatchObject({ version: 2, name: 'second', metadata: { a: 1, b: 2 } });
  const inQuery = await http.post(`/assistants/${assistant_id}/latest?version=1`);
  expect(inQuery.body).toMatchObject({ version: 1, name: 'Untitled', metadata: { a: 1 } });
  expect((await http.post(`/assistants/${assistant_id}/latest`, {})).body).toEqual({
    detail: 'version is required',
  });
  expect((await http.post(`/assistants/${assistant_id}/latest`, { version: 9 })).status).toBe(404);
});

test('a deleted assistant is 404', async () => {
  const { assistant_id } = await create();
  const deleted = await http.delete(`/assistants/${assistant_id}?delete_threads=false`);
  expect([deleted.status, deleted.text]).toEqual([204, '']);
  expect((await http.get(`/assistants/${assistant_id}`)).status).toBe(404);
});

test('the graph of an assistant can be drawn with or without subgraphs', async () => {
  const { body } = await http.get('/assistants/nested/graph');
  expect(body.nodes.map(({ id }: { id: string }) => id)).toEqual(['__start__', 'first', 'child', '__end__']);
  expect(body.edges).toContainEqual(expect.objectContaining({ source: 'first', target: 'child' }));
  for (const xray of ['true', 'false', '1', '3']) {
    expect((await http.get(`/assistants/nested/graph?xray=${xray}`)).status).toBe(200);
  }
  for (const xray of ['0', '-1', 'text', '1.5']) {
    const { status, body } = await http.get(`/assistants/nested/graph?xray=${xray}`);
    expect([status, body.detail]).toEqual([422, naming('xray', 1, 1000)]);
  }
});

test('the schemas of an assistant include its graph and its subgraphs', async () => {
  const schemas = await http.get('/assistants/zod-state/schemas');
  expect(schemas.body).toMatchObject({ graph_id: 'zod-state', input_schema: { type: 'object' } });
  const subgraphs = await http.get('/assistants/nested/subgraphs?recurse=true');
  const { child } = subgraphs.body;
  expect(child.state_schema).toMatchObject({ type: 'object' });
  expect([child.input, child.output, child.state, child.config]).toEqual([
    child.input_schema,
    child.output_schema,
    child.state_schema,
    child.config_schema,
  ]);
  expect(Object.keys((await http.get('/assistants/nested/subgraphs/child')).body)).toEqual(['child']);
  expect((await http.get('/assistants/nested/subgraphs/nobody')).body).toEqual({});
});

test('a graph that failed to load reports the reason, and the others are served', async () => {
  const { status, body } = await http.get('/assistants/broken/schemas');
  expect(status).toBeGreaterThanOrEqual(400);
  expect(body.detail).toContain('broken');
  expect((await http.get('/assistants/broken')).status).toBe(200);
});

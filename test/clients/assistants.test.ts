import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyMethod } from '../support/every-method.ts';
import { printedBy, python } from '../support/python.ts';
import { SDKS } from '../support/sdks.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

test.each(SDKS)('JavaScript SDK %s: every method of assistants', async (sdk, Sdk) => {
  const client = new Sdk({ apiUrl: server.url });
  const { part: assistants, uncalled } = everyMethod(client.assistants);
  const metadata = { sdk };

  const assistant_id = crypto.randomUUID();
  const made = await assistants.create({
    graphId: 'counter',
    assistantId: assistant_id,
    context: { by: 2 },
    metadata,
    name: 'Counts by two',
    description: 'Counts.',
  });
  expect(made).toMatchObject({
    assistant_id,
    graph_id: 'counter',
    config: { configurable: { by: 2 } },
    context: { by: 2 },
    metadata,
    name: 'Counts by two',
    description: 'Counts.',
    version: 1,
  });
  await expect(assistants.create({ graphId: 'counter', assistantId: assistant_id })).rejects.toThrow('409');
  const again = { graphId: 'echo', assistantId: assistant_id, ifExists: 'do_nothing' as const };
  expect(await assistants.create(again)).toEqual(made);
  expect(await assistants.get(assistant_id)).toEqual(made);

  const changed = await assistants.update(assistant_id, {
    graphId: 'echo',
    config: { tags: ['t'], recursion_limit: 7 },
    metadata: { changed: true },
    name: 'Echoes',
    description: 'Answers.',
  });
  expect(changed).toMatchObject({
    graph_id: 'echo',
    config: { tags: ['t'], recursion_limit: 7 },
    context: {},
    metadata: { ...metadata, changed: true },
    name: 'Echoes',
    version: 2,
  });
  expect((await assistants.getVersions(assistant_id)).map(({ version }) => version)).toEqual([2, 1]);
  const found = await assistants.getVersions(assistant_id, {
    metadata: { changed: true },
    limit: 5,
    offset: 0,
  });
  expect(found.map(({ version }) => version)).toEqual([2]);
  expect(await assistants.setLatest(assistant_id, 1)).toMatchObject({
    ...made,
    updated_at: expect.any(String),
  });

  await assistants.create({ graphId: 'counter', name: 'Counts by three', metadata });
  expect(await assistants.count({ metadata, graphId: 'counter', name: 'COUNTS' })).toBe(2);
  const query = { metadata, graphId: 'counter', name: 'by', sortBy: 'name', sortOrder: 'asc' } as const;
  const [first, ...more] = await assistants.search({ ...query, limit: 1, offset: 1, select: ['name'] });
  expect([first, more]).toEqual([{ name: 'Counts by two' }, []]);
  const page = await assistants.search({ ...query, limit: 1, includePagination: true });
  expect(page).toMatchObject({ assistants: [{ name: 'Counts by three' }], next: '1' });

  await assistants.delete(assistant_id);
  await expect(assistants.get(assistant_id)).rejects.toThrow('404');

  const drawn = await assistants.getGraph('three-levels', { xray: true });
  expect(drawn.nodes.map(({ id }) => String(id)).some((id) => id.startsWith('top_two:'))).toBe(true);
  expect(await assistants.getSchemas('zod-state')).toMatchObject({
    graph_id: 'zod-state',
    state_schema: { properties: { topic: { type: 'string' } } },
    context_schema: { properties: { language: { enum: ['en', 'de'] } } },
  });
  const subgraphs = await assistants.getSubgraphs('three-levels', { recurse: true });
  const path = { path: { type: 'array', items: { type: 'string' } } };
  expect(subgraphs).toMatchObject({
    top_two: { state_schema: { properties: path } },
    'top_two|middle_two': { state_schema: { properties: path } },
  });
  const one = await assistants.getSubgraphs('three-levels', { namespace: 'top_two' });
  expect(Object.keys(one)).toEqual(['top_two']);
  expect(uncalled()).toEqual([]);
});

test.each(SDKS)('JavaScript SDK %s: deleting an assistant deletes its threads on request', async (_, Sdk) => {
  const client = new Sdk({ apiUrl: server.url });
  const { assistant_id } = await client.assistants.create({ graphId: 'counter' });
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, assistant_id, { input: {} });
  await client.assistants.delete(assistant_id, { deleteThreads: true });
  await expect(client.threads.get(thread_id)).rejects.toThrow('404');
});

test.runIf(python)('Python SDK: every method of assistants', async () => {
  expect(await printedBy('python_assistants.py', server.url)).toEqual({
    made: ['counter', { by: 2 }, 'Counts by two', 'Counts.', 1],
    same: true,
    conflict: 409,
    changed: ['echo', {}, { py: true, changed: true }, 2],
    versions: [2, 1],
    found: [2],
    restored: ['counter', { by: 2 }, 1],
    count: 2,
    names: ['Counts by two'],
    page: [['Counts by three'], '1'],
    drawn: true,
    schema: 'string',
    subgraphs: ['top_two', 'top_two|middle_two'],
    subgraph: ['top_two'],
    gone: 404,
    uncalled: [],
  });
});

import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const http = await openApp({ graphs: ['factory', 'three-levels'] });
afterAll(() => http[Symbol.asyncDispose]());

const withNode = (node_name: string) => ({ config: { configurable: { node_name } } });
const ENDS = ['__start__', '__end__'];

/** Executes a run, and returns the path of its graph. */
async function run(assistant_id: string, body: object = {}): Promise<string> {
  const thread_id = await http.thread();
  const { headers } = await http.post(`/threads/${thread_id}/runs/wait`, {
    assistant_id,
    input: {},
    ...body,
  });
  return `${headers['content-location']}/graph`;
}

async function inner(path: string): Promise<string[]> {
  const { body } = await http.get(path);
  return body.nodes.map(({ id }: { id: string }) => id).filter((id: string) => !ENDS.includes(id));
}

test('the graph of a run is that of the version of its assistant that it was created for', async () => {
  const assistant = { graph_id: 'factory', name: 'Maker', ...withNode('first') };
  const { assistant_id } = (await http.post('/assistants', assistant)).body;
  const old = await run(assistant_id);
  await http.patch(`/assistants/${assistant_id}`, withNode('second'));
  const fresh = await run(assistant_id);
  expect(await inner(`/assistants/${assistant_id}/graph`)).toEqual(['second']);
  expect([await inner(old), await inner(fresh)]).toEqual([['first'], ['second']]);
  const { body } = await http.get(old);
  expect(body).toMatchObject({
    ...{ graph_id: 'factory', assistant_name: 'Maker', assistant_version: 1 },
    ...{ revision_id: null, run_revision_id: null, thread_revision_id: null, loaded_at: expect.any(String) },
  });
  expect((await http.get(fresh)).body.assistant_version).toBe(2);
});

test('the graph of a run reflects the configuration of its request', async () => {
  const { assistant_id } = (await http.post('/assistants', { graph_id: 'factory', ...withNode('mine') }))
    .body;
  const own = await run('factory', withNode('own'));
  expect(await inner(own)).toEqual(['own']);
  const of = await run(assistant_id);
  expect(await inner(of)).toEqual(['mine']);
});

test('the graph of a run has expanded subgraphs on request', async () => {
  const path = await run('three-levels');
  const plain = await inner(path);
  const xrayed = await inner(`${path}?xray=true`);
  expect(plain.some((id) => id.includes(':'))).toBe(false);
  expect(xrayed.some((id) => id.includes(':'))).toBe(true);
  expect((await http.get(`${path}?xray=-1`)).status).toBe(422);
});

test('schemas of a run and of its subgraphs are those of its graph', async () => {
  const path = (await run('three-levels')).replace(/\/graph$/, '');
  for (const schemas of ['schemas', 'subgraphs', 'subgraphs?recurse=true']) {
    const { status, body } = await http.get(`${path}/${schemas}`);
    expect(status).toBe(200);
    expect(body).toEqual((await http.get(`/assistants/three-levels/${schemas}`)).body);
  }
  expect(Object.keys((await http.get(`${path}/subgraphs?recurse=true`)).body)).toEqual([
    'top_two',
    'top_two|middle_two',
  ]);
});

test('the factory of a graph gets the user who requests the graph, not the one who created the run', async () => {
  const folder = resolve(import.meta.dirname, '../fixtures/auth');
  await using server = await openApp({ graphs: ['permitted'], folder });
  const [writer, reader] = ['alice-token', 'reader-token'].map((token) => ({
    authorization: `Bearer ${token}`,
  }));
  const { thread_id } = (await server.post('/threads', {}, writer)).body;
  const call = { assistant_id: 'permitted', input: {} };
  const { headers, body } = await server.post(`/threads/${thread_id}/runs/wait`, call, writer);
  expect(body).toEqual({ done: 'write' });
  const drawn = await server.get(`${headers['content-location']}/graph`, reader);
  expect(drawn.body.nodes.map(({ id }: { id: string }) => id)).toContain('nothing');
});

test('the graph of a missing run is 404', async () => {
  const path = `/threads/${await http.thread()}/runs/${randomUUID()}`;
  for (const of of ['graph', 'schemas', 'subgraphs'])
    expect(await http.get(`${path}/${of}`)).toMatchObject({ status: 404, body: { detail: 'Run not found' } });
});

import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { CheckpointNode } from '../../src/schemas/thread-tree.ts';
import { openApp } from '../support/app.ts';

const folder = resolve(import.meta.dirname, '../fixtures/auth');
const ALICE = { authorization: 'Bearer alice-token' };
const BOB = { authorization: 'Bearer bob-token' };

test('the tree of a thread has its steps, runs and forks, and no values', async () => {
  await using server = await openApp({ graphs: ['interrupting'] });
  const thread_id = await server.thread();
  const at = `/threads/${thread_id}`;
  await server.post(`${at}/runs/wait`, { assistant_id: 'interrupting', input: { x: 1 } });
  const [{ run_id }] = (await server.get(`${at}/runs`)).body;
  const tree: CheckpointNode[] = (await server.get(`${at}/tree`)).body;
  const shape = tree.map(({ step, source, nodes, changed_channels }) => ({
    ...{ step, source, nodes, changed_channels },
  }));
  expect(shape).toEqual([
    { step: 1, source: 'loop', nodes: ['before'], changed_channels: ['log'] },
    { step: 0, source: 'loop', nodes: ['__start__'], changed_channels: ['x'] },
    { step: -1, source: 'input', nodes: [], changed_channels: [] },
  ]);
  expect(tree.every((node) => node.run_id === run_id && node.created_at !== null)).toBe(true);
  expect(tree.map((node) => node.parent_checkpoint_id)).toEqual([
    tree[1]?.checkpoint_id,
    tree[2]?.checkpoint_id,
    null,
  ]);

  // A change of the past is another branch.
  const { checkpoint_id } = tree[1] as CheckpointNode;
  await server.post(`${at}/state`, { values: { x: 7 }, checkpoint_id, as_node: 'before' });
  const [fork] = (await server.get(`${at}/tree`)).body;
  expect(fork).toMatchObject({
    parent_checkpoint_id: checkpoint_id,
    source: 'update',
    run_id: null,
    nodes: [],
    changed_channels: ['x'],
  });

  const page = await server.get(`${at}/tree?limit=3`);
  expect(page.body.slice(1)).toEqual(tree.slice(0, 2));
  const cursor = page.headers['x-pagination-next'];
  await server.post(`${at}/state`, { values: { x: 8 }, as_node: 'before' });
  const last = await server.get(`${at}/tree?limit=3&cursor=${cursor}`);
  expect(last.body).toEqual(tree.slice(2));
  expect(last.headers).not.toHaveProperty('x-pagination-next');
});

test('the tree of a thread names the nodes of each step, including those of Send and of a copied thread', async () => {
  await using server = await openApp({ graphs: ['parallel-send', 'ten-steps'] });
  const nodesOf = async (thread_id: string) => {
    const tree: CheckpointNode[] = (await server.get(`/threads/${thread_id}/tree`)).body;
    return tree.map(({ nodes }) => nodes).toReversed();
  };
  const thread_id = await server.thread();
  const wait = (assistant_id: string, input: object, thread = thread_id) =>
    server.post(`/threads/${thread}/runs/wait`, { assistant_id, input });
  await wait('parallel-send', { items: [2, 3] });
  await wait('parallel-send', { items: [4] });
  const named = await nodesOf(thread_id);
  expect(named.filter((nodes) => nodes?.includes('square'))).toHaveLength(2);
  expect(new Set(named.flat())).toEqual(new Set(['__start__', 'spread', 'square']));

  const steps = await server.thread();
  await wait('ten-steps', { n: 0 }, steps);
  const expected = [[], ['__start__'], ...Array.from({ length: 10 }, () => ['step'])];
  expect(await nodesOf(steps)).toEqual(expected);
  const { body: copy } = await server.post(`/threads/${steps}/copy`, {});
  expect((await nodesOf(copy.thread_id)).slice(0, expected.length)).toEqual(expected);
});

test('the tree of a thread has subgraphs on request', async () => {
  await using server = await openApp({ graphs: ['nested'] });
  const thread_id = await server.thread();
  await server.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'nested', input: { x: 1 } });
  const namespaces = async (query: string) => {
    const { body } = await server.get(`/threads/${thread_id}/tree?${query}`);
    return [...new Set(body.map(({ checkpoint_ns }: CheckpointNode) => checkpoint_ns.split(':')[0]))].sort();
  };
  expect(await namespaces('')).toEqual(['']);
  expect(await namespaces('subgraphs=true')).toEqual(['', 'child']);
});

test("the tree of another user's thread is 404, and invalid queries are refused", async () => {
  await using server = await openApp({ graphs: ['echo'], folder });
  const { thread_id } = (await server.post('/threads', {}, ALICE)).body;
  expect((await server.get(`/threads/${thread_id}/tree`, ALICE)).body).toEqual([]);
  expect(await server.get(`/threads/${thread_id}/tree`, BOB)).toMatchObject({
    status: 404,
    body: { detail: `Thread with ID ${thread_id} not found` },
  });
  for (const [query, detail] of [
    ['cursor=x', 'cursor: must be the X-Pagination-Next header of a previous page of this list'],
    ['limit=0', /^limit: must be a whole number from 1 to 1000/],
    ['subgraphs=perhaps', /subgraphs/],
  ] as const) {
    const { status, body } = await server.get(`/threads/${thread_id}/tree?${query}`, ALICE);
    expect([query, status, body.detail]).toEqual([query, 422, expect.stringMatching(detail)]);
  }
});

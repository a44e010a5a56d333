import { Command } from '@langchain/langgraph';
import { RemoteGraph } from '@langchain/langgraph/remote';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

const API_KEY = 'key-of-the-test';
const GRAPHS = {
  echo: 'test/fixtures/graphs/echo.ts:graph',
  interrupting: 'test/fixtures/graphs/interrupting.ts:graph',
  nested: 'test/fixtures/graphs/nested.ts:graph',
};

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ graphs: GRAPHS, api_keys: [API_KEY] });
});
afterAll(() => server?.[Symbol.asyncDispose]());

function remote(graphId: string): RemoteGraph {
  return new RemoteGraph({ graphId, url: server.url, apiKey: API_KEY });
}

async function newThread() {
  const { thread_id } = await server.client.threads.create();
  return { configurable: { thread_id } };
}

test('a remote graph is invoked and streams without a thread', async () => {
  expect(await remote('echo').invoke({ x: 1 })).toEqual({ x: 1, log: ['a:1', 'b'] });
  const updates = [];
  for await (const update of await remote('echo').stream({ x: 2 }, { streamMode: 'updates' }))
    updates.push(update);
  expect(updates).toEqual([{ a: { log: ['a:2'] } }, { b: { log: ['b'] } }]);
});

test('a remote graph streams several modes on a thread and keeps its state', async () => {
  const config = await newThread();
  const graph = remote('echo');
  const modes = [];
  for await (const [mode] of await graph.stream({ x: 1 }, { ...config, streamMode: ['values', 'updates'] })) {
    modes.push(mode);
  }
  expect(modes).toEqual(['values', 'updates', 'values', 'updates', 'values']);
  expect((await graph.getState(config)).values).toEqual({ x: 1, log: ['a:1', 'b'] });
  const history = [];
  for await (const snapshot of graph.getStateHistory(config)) history.push(snapshot.next);
  expect(history).toEqual([[], ['b'], ['a'], ['__start__']]);
});

test('a remote graph streams the events of its subgraphs', async () => {
  const config = await newThread();
  const seen = [];
  const stream = await remote('nested').stream(
    { ask: false },
    { ...config, streamMode: 'updates', subgraphs: true },
  );
  for await (const [namespace, update] of stream) seen.push([namespace, Object.keys(update)]);
  expect(seen).toEqual([
    [[], ['first']],
    [[expect.stringMatching(/^child:/)], ['work']],
    [[], ['child']],
  ]);
});

test('a remote graph stops at an interrupt and is resumed', async () => {
  const config = await newThread();
  const graph = remote('interrupting');
  await expect(graph.invoke({ x: 1 }, config)).rejects.toMatchObject({ name: 'GraphInterrupt' });
  const waiting = await graph.getState(config);
  expect(waiting.next).toEqual(['ask']);
  expect(waiting.tasks[0]?.interrupts).toMatchObject([{ value: { question: 'ok?' } }]);
  expect(await graph.invoke(new Command({ resume: 'yes' }), config)).toMatchObject({
    log: ['a:1', 'b:"yes"'],
  });
});

test('the state of a remote graph can be changed, and its drawing fetched', async () => {
  const config = await newThread();
  const graph = remote('echo');
  await graph.invoke({ x: 1 }, config);
  await graph.updateState(config, { log: ['from outside'] }, 'b');
  expect((await graph.getState(config)).values).toEqual({ x: 1, log: ['a:1', 'b', 'from outside'] });
  const drawing = await graph.getGraphAsync({ xray: true });
  expect(Object.keys(drawing.nodes)).toEqual(expect.arrayContaining(['a', 'b']));
});

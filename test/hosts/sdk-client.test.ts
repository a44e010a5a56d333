import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { project } from '../support/project.ts';

const CONFIG =
  'graphs: { asks: ./asks.mjs:graph, told: ./told.mjs:graph }\nhttp: { mount_prefix: /agents }\n';

const TOLD = `import { Annotation, StateGraph } from '@langchain/langgraph';
  const State = Annotation.Root({ n: Annotation() });
  export const graph = new StateGraph(State)
    .addNode('one', ({ n }) => ({ n: n + 1 })).addNode('two', ({ n }) => ({ n: n * 2 }))
    .addEdge('__start__', 'one').addEdge('one', 'two').compile();`;

/** Streams a run of another graph; the client is created as the module loads. */
const ASKS = `import { Annotation, StateGraph } from '@langchain/langgraph';
  import { Client } from '@langchain/langgraph-sdk';
  const client = new Client();
  const State = Annotation.Root({ n: Annotation(), heard: Annotation(), pid: Annotation() });
  export const graph = new StateGraph(State)
    .addNode('ask', async ({ n }) => {
      const heard = [];
      for await (const { event, data } of client.runs.stream(null, 'told', { input: { n }, streamMode: 'values' }))
        if (event === 'values') heard.push(data.n);
      return { heard, pid: process.pid };
    })
    .addEdge('__start__', 'ask').compile();`;

test('a node streams a run of its own server', async () => {
  await using code = await project({ 'agent.config.yaml': CONFIG, 'asks.mjs': ASKS, 'told.mjs': TOLD });
  await using server = await openApp({
    graphs: ['asks', 'told'],
    folder: code.root,
    environment: { AGENT_SERVER_HOSTS: '1' },
  });
  const { body } = await server.post('/agents/runs/wait', { assistant_id: 'asks', input: { n: 3 } });
  expect(body).toMatchObject({ heard: [3, 4, 8], pid: expect.any(Number) });
  expect(body.pid).not.toBe(process.pid);
});

import { expect, test } from 'vitest';
import { openDeploymentServer } from '../../support/deployments.ts';
import { freePort } from '../../support/free-port.ts';

/** Remembers the address that it was given as it was loaded, and calls the server there. */
const FILES = {
  'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' }, env: { PORT: '2024' } }),
  'agent.ts': `
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
const { PORT, LANGGRAPH_API_URL } = process.env;
export const graph = new StateGraph(Annotation.Root({ port: Annotation(), url: Annotation(), status: Annotation() }))
  .addNode('call', async () => {
    const { status } = await fetch(LANGGRAPH_API_URL + '/ok');
    return { port: PORT, url: LANGGRAPH_API_URL, status };
  })
  .addEdge(START, 'call').addEdge('call', END).compile();
`,
};

test('graphs of a deployment get the port of the server and the URL of the deployment', async () => {
  const port = String(await freePort());
  await using server = await openDeploymentServer({ environment: { PORT: port } });
  const { id } = await server.create('caller');
  await server.deploy(id, FILES);

  const { body } = await server.run('caller');

  expect(body).toEqual({ port, url: `${server.url}/deployments/caller`, status: 200 });
});

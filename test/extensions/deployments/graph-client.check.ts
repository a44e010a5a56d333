import { expect, test } from 'vitest';
import { openDeploymentServer, projectThat } from '../../support/deployments.ts';

/** A graph that counts the threads of its server with the SDK, and asks other addresses with the key that it has. */
const CALLS = `import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Client } from '@langchain/langgraph-sdk';
const State = Annotation.Root({ bases: Annotation, own: Annotation, statuses: Annotation });
const statusOf = async (base) => {
  const headers = { 'x-api-key': process.env.LANGGRAPH_API_KEY, 'content-type': 'application/json' };
  return (await fetch(base + '/threads/search', { method: 'POST', headers, body: '{}' })).status;
};
export const graph = new StateGraph(State)
  .addNode('call', async ({ bases }) => ({
    own: (await new Client().threads.search()).map(({ thread_id }) => thread_id),
    statuses: await Promise.all(bases.map(statusOf)),
  }))
  .addEdge(START, 'call')
  .addEdge('call', END)
  .compile();
`;
const project = { ...projectThat('calls'), 'agent.ts': CALLS };

test('the client of a graph reaches the deployment of the graph, and neither another one nor the server', async () => {
  await using server = await openDeploymentServer();
  const [one, other] = [await server.create('one'), await server.create('other')];
  expect(await server.deploy(one.id, project)).toMatchObject({ status: 'DEPLOYED' });
  expect(await server.deploy(other.id, project)).toMatchObject({ status: 'DEPLOYED' });
  const bases = ['/deployments/one', '/deployments/other', ''].map((path) => server.url + path);
  const ids: string[] = [];
  for (const name of ['one', 'other'])
    ids.push((await server.post(`/deployments/${name}/threads`)).body.thread_id);
  const called = async (name: string) => (await server.run(name, 'agent', { bases })).body;
  const ofOne = await called('one');
  expect([ofOne.statuses, ids.map((id) => ofOne.own.includes(id))]).toEqual([
    [200, 401, 401],
    [true, false],
  ]);

  // The SDK finds a key of the project, which is none of the server.
  const secrets = [{ name: 'LANGSMITH_API_KEY', value: 'lsv2_of_the_project' }];
  await server.deploy(other.id, project, { secrets });
  expect(await called('other')).toMatchObject({
    own: expect.arrayContaining([ids[1]]),
    statuses: [401, 401, 401],
  });
  const { status } = await server.send(
    'POST',
    '/deployments/one/threads/search',
    {},
    { 'x-api-key': 'wrong' },
  );
  expect(status).toBe(401);
});

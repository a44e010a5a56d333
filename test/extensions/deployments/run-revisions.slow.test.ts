import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Files, openDeploymentServer } from '../../support/deployments.ts';

/** Its graph has one node and one value of the state, which have the name of the version. */
function project(version: string): Files {
  const name = JSON.stringify(version);
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
    'agent.ts': `import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
export const graph = new StateGraph(z.object({ [${name} + '_said']: z.string().default('') }))
  .addNode(${name}, () => ({ [${name} + '_said']: ${name} }))
  .addEdge(START, ${name})
  .addEdge(${name}, END)
  .compile();
`,
  };
}

test('each run of a thread names the revision that executed it, whose graph is drawn while its build is served', async () => {
  await using server = await openDeploymentServer({ deployments: { drain_timeout_seconds: 0 } });
  const { id } = await server.create('agent');
  const runs = `/deployments/agent/threads/${randomUUID()}/runs`;
  const run = async () => {
    const body = { assistant_id: 'agent', if_not_exists: 'create', input: {} };
    const { body: created } = await server.post(runs, body);
    expect((await server.get(`${runs}/${created.run_id}/join`)).status).toBe(200);
    return `${runs}/${created.run_id}`;
  };
  const drawn = async (path: string) => {
    const { nodes, ...graph } = (await server.get(`${path}/graph`)).body;
    expect((await server.get(`${path}/explain`)).body.revision_id).toBe(graph.run_revision_id);
    const names = nodes.map(({ id }: { id: string }) => id).filter((name: string) => !name.startsWith('__'));
    return [names.join(), graph.run_revision_id, graph.revision_id, graph.thread_revision_id];
  };

  const declared = async (path: string) =>
    Object.keys((await server.get(`${path}/schemas`)).body.state_schema.properties);

  const first = await server.deploy(id, project('one'));
  const old = await run();
  expect(await drawn(old)).toEqual(['one', first.id, first.id, null]);
  const second = await server.deploy(id, project('two'));
  const fresh = await run();
  expect(await drawn(fresh)).toEqual(['two', second.id, second.id, null]);
  expect(await drawn(old)).toEqual(['two', first.id, second.id, null]);

  // The first one serves too, from now on.
  await server.send('PATCH', `/v2/deployments/${id}`, { source_config: { pin: 'thread' } });
  expect(await drawn(old)).toEqual(['one', first.id, first.id, null]);
  expect(await drawn(fresh)).toEqual(['two', second.id, second.id, null]);
  expect([await declared(old), await declared(fresh)]).toEqual([['one_said'], ['two_said']]);
  const pinned = await run();
  expect(await drawn(pinned)).toEqual(['two', second.id, second.id, second.id]);

  // A rollback has the build of the first one.
  const { body } = await server.post(`/v2/deployments/${id}/revisions/${first.id}/redeploy`);
  const third = await server.ended(id, body.latest_revision_id);
  expect(await drawn(old)).toEqual(['one', first.id, third.id, second.id]);
  expect(await drawn(pinned)).toEqual(['two', second.id, second.id, second.id]);
});

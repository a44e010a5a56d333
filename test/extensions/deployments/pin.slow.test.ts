import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deploymentSettings } from '../../../src/extensions/deployments/section.ts';
import { type Files, openDeploymentServer } from '../../support/deployments.ts';
import { naming } from '../../support/naming.ts';
import { until } from '../../support/until.ts';

/** A run says which version executed it, and with `ask` which one asked and which one heard the answer. */
function project(version: string): Files {
  const name = JSON.stringify(version);
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
    'agent.ts': `import { END, START, StateGraph, interrupt } from '@langchain/langgraph';
import { z } from 'zod';
const State = z.object({ ask: z.any(), said: z.any() });
export const graph = new StateGraph(State)
  .addNode('step', ({ ask }) => ({ ask: null, said: ask ? interrupt(${name}) + ' to ' + ${name} : ${name} }))
  .addEdge(START, 'step')
  .addEdge('step', END)
  .compile();
`,
  };
}

type Server = Awaited<ReturnType<typeof openDeploymentServer>>;

async function said({ post }: Pick<Server, 'post'>, thread_id: string, body: object = { input: {} }) {
  const path = `/deployments/agent/threads/${thread_id}/runs/wait`;
  const run = await post(path, { assistant_id: 'agent', if_not_exists: 'create', ...body });
  if (run.status !== 200) throw new Error(run.text);
  return run.body.said ?? run.body.__interrupt__?.[0]?.value;
}

const PINNED = { source_config: { pin: 'thread' } };

/** As many builds as the tests need; what is old executes nothing more as soon as it can be handed over. */
const SETTINGS = { drain_timeout_seconds: 0 };

test('pinned threads are served by the revision of their first run, until they follow the newest again', async () => {
  await using server = await openDeploymentServer({ deployments: SETTINGS });
  const { id } = await server.create('agent', PINNED);
  const first = await server.deploy(id, project('one'));
  const [old, asking, fresh] = [randomUUID(), randomUUID(), randomUUID()];
  expect(await said(server, old)).toBe('one');
  expect(await said(server, asking, { input: { ask: true } })).toBe('one');

  await server.deploy(id, project('two'));
  expect(await said(server, fresh)).toBe('two');
  expect([await said(server, old), await said(server, old)]).toEqual(['one', 'one']);
  expect(await said(server, asking, { command: { resume: 'yes' } })).toBe('yes to one');
  const state = await server.get(`/deployments/agent/threads/${old}/state`);
  expect(state.body.values.said).toBe('one');
  const graphOf = async (thread_id: string) => {
    const path = `/deployments/agent/threads/${thread_id}/runs`;
    const [run] = (await server.get(path)).body;
    return (await server.get(`${path}/${run.run_id}/graph`)).body;
  };
  expect(await graphOf(old)).toMatchObject({ revision_id: first.id, thread_revision_id: first.id });
  const second = await graphOf(fresh);
  expect(second.revision_id).not.toBe(first.id);
  expect(second.thread_revision_id).toBe(second.revision_id);

  // A rollback has the build of the first one.
  await server.post(`/v2/deployments/${id}/revisions/${first.id}/redeploy`);
  await until('the rollback serves', async () => (await said(server, randomUUID())) === 'one');
  expect([await said(server, old), await said(server, fresh)]).toEqual(['one', 'two']);

  const patched = await server.send('PATCH', `/v2/deployments/${id}`, { source_config: { pin: 'latest' } });
  expect(patched.body.source_config.pin).toBe('latest');
  expect([await said(server, old), await said(server, fresh)]).toEqual(['one', 'one']);
});

test('an unneeded earlier revision stops and is started again on demand; threads of one that cannot be loaded move on', async () => {
  await using server = await openDeploymentServer({ deployments: { ...SETTINGS, idle_timeout_seconds: 1 } });
  const { id } = await server.create('agent', PINNED);
  const first = await server.deploy(id, project('one'));
  const old = randomUUID();
  expect(await said(server, old)).toBe('one');
  await server.deploy(id, project('two'));
  const health = async () => (await server.get(`/v2/deployments/${id}/health`)).body;
  const running = async () => (await health()).revisions.length;
  await until('the first one has ended', async () => (await running()) === 1);
  expect(await said(server, old)).toBe('one');
  await until('it has ended again', async () => (await running()) === 1);

  const builds = join(deploymentSettings(server.config).folder, 'apps/agent/builds');
  await rm(join(builds, first.id), { recursive: true });
  const path = `/deployments/agent/threads/${old}/runs`;
  const [run] = (await server.get(path)).body;
  const { body: graph } = await server.get(`${path}/${run.run_id}/graph`);
  expect(graph.thread_revision_id).toBe(first.id);
  expect(graph.revision_id).not.toBe(first.id);
  expect(await said(server, old)).toBe('two');
  expect(server.log.map(({ message }) => message)).toContainEqual(naming('earlier revision'));
  expect(await said(server, old)).toBe('two');
});

test('after a restart earlier revisions are served on demand, and a thread continues without its deleted build', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-pin-'));
  await using _folder = {
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 10 }),
  };
  const options = { folder, deployments: { ...SETTINGS, keep: 2 } };
  const [old, fresh] = [randomUUID(), randomUUID()];
  let id: string;
  {
    await using server = await openDeploymentServer(options);
    id = (await server.create('agent', PINNED)).id;
    await server.deploy(id, project('one'));
    expect(await said(server, old)).toBe('one');
    await server.deploy(id, project('two'));
    expect(await said(server, fresh)).toBe('two');
  }

  await using server = await openDeploymentServer(options);
  await until('it serves', async () => (await server.run('agent')).status === 200);
  const states = async () => (await server.get(`/v2/deployments/${id}/health`)).body.revisions.length;
  expect(await states()).toBe(1);
  const answers = await Promise.all([said(server, old), said(server, old), said(server, fresh)]);
  expect(answers).toEqual(['one', 'one', 'two']);
  expect(await states()).toBe(2);

  // Two builds are kept.
  await server.deploy(id, project('three'));
  await until('the first build is not kept any more', async () => (await said(server, old)) === 'three');
  expect([await said(server, old), await said(server, fresh)]).toEqual(['three', 'two']);
});

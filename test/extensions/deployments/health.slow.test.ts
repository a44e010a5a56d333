import { globSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { DeploymentHealth } from '../../../src/extensions/deployments/schemas/health.ts';
import { deploymentSettings } from '../../../src/extensions/deployments/section.ts';
import { RevisionError } from '../../../src/extensions/deployments/services/builder.ts';
import { openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { gatedProject } from '../../support/gated-project.ts';
import { naming } from '../../support/naming.ts';
import { until } from '../../support/until.ts';

type Server = Awaited<ReturnType<typeof openDeploymentServer>>;

const NOBODY = '7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00';

const healthOf = async (server: Server, id: string): Promise<DeploymentHealth> =>
  (await server.get(`/v2/deployments/${id}/health`)).body;

/** Resolves with the health once it is as wanted. */
async function untilHealth(
  server: Server,
  id: string,
  wanted: (health: DeploymentHealth) => boolean,
): Promise<DeploymentHealth> {
  let health = await healthOf(server, id);
  const isThere = async () => {
    health = await healthOf(server, id);
    return wanted(health);
  };
  await until('the health is as wanted', isThere);
  return health;
}

const statesOf = ({ revisions }: DeploymentHealth) =>
  revisions.map(({ number, state, runs }) => `#${number} ${state} ${runs}`);

test('an old revision is listed while it executes runs, and disappears when they end', async () => {
  await using server = await openDeploymentServer();
  const { id } = await server.create('busy');
  const empty = await healthOf(server, id);
  expect(empty).toMatchObject({ active_revision: null, check: null, queue: null, revisions: [] });
  expect(empty.next_action).toEqual({
    text: naming('Deploy', 'nothing'),
    command: `npx agent-server deploy . --name busy --url ${server.url}`,
  });

  const first = await server.deploy(id, gatedProject('one'));
  const serves = await untilHealth(
    server,
    id,
    ({ revisions }) => (revisions[0]?.hosts[0]?.memory_bytes ?? null) !== null,
  );
  expect(serves).toMatchObject({
    active_revision: { revision_id: first.id, number: 1, since: first.build_steps.at(-1)?.ended_at },
    check: { ok: true, reason: null },
    queue: { pending: 0, running: 0 },
    revisions: [
      {
        revision_id: first.id,
        state: 'serving',
        runs: 0,
        requests: 0,
        hosts: [{ ready: true, restarts: 0 }],
      },
    ],
    next_action: { text: expect.stringContaining('Call it') },
  });

  const gate = `${server.folder}/gate`;
  const run = server.run('busy', 'agent', { gate });
  await untilHealth(server, id, (health) => statesOf(health)[0] === '#1 serving 1');

  const loads = `${server.folder}/loads`;
  const second = await server.push(id, gatedProject('two', loads));
  const starting = await untilHealth(server, id, ({ revisions }) => revisions.length === 2);
  expect(statesOf(starting)).toEqual(['#2 starting 0', '#1 serving 1']);
  await writeFile(loads, '');
  await server.ended(id, second.id);

  const draining = await healthOf(server, id);
  expect(statesOf(draining)).toEqual(['#2 serving 0', '#1 draining 1']);
  expect(draining).toMatchObject({
    active_revision: { number: 2 },
    queue: { pending: 0, running: 1 },
    revisions: [{ requests: 0 }, { requests: 1, hosts: [{ active: 1 }] }],
  });

  await writeFile(gate, '');
  expect((await run).body).toMatchObject({ said: 'one' });
  const after = await untilHealth(server, id, ({ revisions }) => revisions.length === 1);
  expect(statesOf(after)).toEqual(['#2 serving 0']);
});

test('after a restart, the health of a deployment says why it cannot serve', async () => {
  const before = await openDeploymentServer();
  const ids = new Map<string, string>();
  for (const name of ['unreadable', 'throwing']) {
    const { id } = await before.create(name);
    ids.set(name, id);
    expect(await before.deploy(id, projectThat(name))).toMatchObject({ status: 'DEPLOYED' });
  }
  await before.close();
  const { folder } = deploymentSettings(before.config);
  const inBuild = (name: string, file: string) =>
    globSync(join(folder, `apps/${name}/builds/*/source/${file}`))[0] as string;
  await rm(inBuild('unreadable', 'langgraph.json'));
  await writeFile(inBuild('throwing', 'agent.ts'), 'throw new Error("no such luck")');

  try {
    await using server = await openDeploymentServer({ folder: before.folder });
    const settled = async (name: string) => {
      const health = await untilHealth(
        server,
        ids.get(name) as string,
        ({ check, revisions }) =>
          check?.reason !== 'Its revision is starting.' &&
          !/server log|is ready/.test(check?.reason ?? '') &&
          revisions.every(({ state }) => state === 'serving'),
      );
      return [health.check?.ok, health.check?.reason, health.next_action.text];
    };
    const look = expect.stringContaining('Find out why it is unhealthy');
    expect(await settled('unreadable')).toEqual([false, expect.stringContaining('configuration'), look]);
    expect(await settled('throwing')).toEqual([false, expect.stringContaining('no such luck'), look]);
  } finally {
    await rm(before.folder, { recursive: true, force: true, maxRetries: 10 });
  }
});

test('only callers who may deploy see the health of a deployment; a missing one is 404', async () => {
  await using server = await openDeploymentServer();
  const { id } = await server.create('mine');
  const path = `/v2/deployments/${id}/health`;
  const { key } = (await server.post('/keys', { name: 'reader', scope: 'read' })).body;
  expect((await server.send('GET', path, undefined, { 'x-api-key': key })).status).toBe(403);
  expect((await server.get(`/v2/deployments/${NOBODY}/health`)).status).toBe(404);
  const { paths } = (await server.get('/openapi.json')).body;
  expect(paths['/v2/deployments/{deployment_id}/health'].get.operationId).toBe('get_deployment_health');
});

test('after git is refused, the health names the command that sets credentials', async () => {
  await using server = await openDeploymentServer({
    build: async () => {
      throw new RevisionError('fetch', 'authentication_required', 'The repository needs a token.');
    },
  });
  const nextOf = async (name: string, repo_url: string) => {
    const { id } = await server.create(name, { source: 'github', source_config: { repo_url } });
    const { next_action } = await untilHealth(
      server,
      id,
      ({ next_action: { text } }) => !text.startsWith('Wait'),
    );
    return next_action.command;
  };
  const at = `--url ${server.url}`;
  expect(await nextOf('https', 'https://git.example.com/a.git')).toBe(
    `gh auth token | npx agent-server deployments token https ${at}`,
  );
  expect(await nextOf('ssh', 'git@git.example.com:a.git')).toBe(
    `npx agent-server deployments deploy-key ssh --new ${at}`,
  );
});

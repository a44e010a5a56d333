import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isInShare } from '../../../src/extensions/deployments/canary.ts';
import type { Revision } from '../../../src/extensions/deployments/schemas/deployments.ts';
import { startDeploymentProcess, writeDeploymentServer } from '../../support/deployment-process.ts';
import { graphThat, projectThat } from '../../support/deployments.ts';
import { PACKAGES } from '../../support/project.ts';
import { repository } from '../../support/repository.ts';
import { until } from '../../support/until.ts';

/** A server in a process of its own that may be killed. */
async function startDeploymentServer() {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-crash-'));
  await writeDeploymentServer(folder);
  const { server, send } = await startDeploymentProcess(folder);
  return {
    server,
    folder,
    send,
    newest: async (id: string): Promise<Revision> =>
      (await send('GET', `/v2/deployments/${id}/revisions?limit=1`)).body.resources[0],
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

test('a server that is killed during a build or deployment resumes it after its restart', async () => {
  await using started = await startDeploymentServer();
  const { server, folder, send, newest } = started;
  // Long enough to be killed in it.
  const install = `sleep 5\nln -s ${PACKAGES} node_modules`;
  await using sources = await repository({ ...projectThat('first'), 'install.sh': install });
  const create = async (name: string) =>
    (
      await send('POST', '/v2/deployments', {
        name,
        source: 'github',
        source_config: { repo_url: sources.url, install_command: 'sh install.sh' },
        source_revision_config: { repo_ref: 'main' },
      })
    ).body.id as string;
  const run = (name: string) =>
    send('POST', `/deployments/${name}/runs/wait`, { assistant_id: 'agent', input: {} });
  const untilStatus = (id: string, status: string) =>
    until(`the revision is ${status}`, async () => (await newest(id)).status === status);

  const id = await create('killed');
  const waiting = await create('waiting');
  await until('its packages are installed', async () =>
    (await newest(id)).build_steps.some(({ name }) => name === 'install'),
  );
  expect((await newest(waiting)).status).toBe('QUEUED');
  await server.kill('SIGKILL');
  await server.restart();
  await untilStatus(id, 'DEPLOYED');
  await untilStatus(waiting, 'DEPLOYED');
  expect((await newest(id)).number).toBe(1);
  expect((await run('killed')).body).toMatchObject({ said: 'first' });

  const gate = join(folder, 'gate');
  await writeFile(gate, '');
  const wait = `import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
while (existsSync(${JSON.stringify(gate)})) await sleep(20);
`;
  await sources.commit({ 'agent.ts': wait + graphThat('second') }, 'loads slowly');
  await send('POST', `/v2/deployments/${id}/revisions`, {});
  await untilStatus(id, 'DEPLOYING');
  await server.kill('SIGKILL');
  await server.restart();
  // What served before serves again, while the other revision still waits at its gate.
  await until('the old revision serves', async () => (await run('killed')).status === 200);
  expect((await run('killed')).body).toMatchObject({ said: 'first' });
  await rm(gate);
  await untilStatus(id, 'DEPLOYED');
  expect((await run('killed')).body).toMatchObject({ said: 'second' });
  const { build_steps } = await newest(id);
  expect(build_steps.filter(({ name }) => name === 'source')).toHaveLength(1);
  expect(build_steps.every(({ status }) => status !== 'running')).toBe(true);

  await server.kill('SIGKILL');
  await server.restart();
  await until('the new revision serves', async () => (await run('killed')).status === 200);
  expect((await run('killed')).body).toMatchObject({ said: 'second' });
});

test('a server that is killed while a canary serves resumes both revisions', async () => {
  await using started = await startDeploymentServer();
  const { server, folder, send, newest } = started;
  await using sources = await repository({
    ...projectThat('first'),
    'install.sh': `ln -s ${PACKAGES} node_modules`,
  });
  const { id } = (
    await send('POST', '/v2/deployments', {
      name: 'shared',
      source: 'github',
      source_config: { repo_url: sources.url, install_command: 'sh install.sh' },
      source_revision_config: { repo_ref: 'main' },
    })
  ).body;
  const deployed = () => until('it is deployed', async () => (await newest(id)).status === 'DEPLOYED');
  await deployed();
  const gate = join(folder, 'gate');
  const waits = `import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
${graphThat('second')
  .replace(
    '() => ({',
    `async () => {
  while (!existsSync(${JSON.stringify(gate)})) await sleep(20);
  return ({`,
  )
  .replace('process.pid }))', 'process.pid }); })')}`;
  await sources.commit({ 'agent.ts': waits }, 'waits');
  await send('POST', `/v2/deployments/${id}/revisions`, { canary_percent: 50 });
  await deployed();
  const canary = await newest(id);
  expect(canary.is_canary).toBe(true);
  const threads = [true, false].map((isIn) => {
    let thread_id = randomUUID();
    while (isInShare(thread_id, 50) !== isIn) thread_id = randomUUID();
    return thread_id;
  });
  const [inside, outside] = threads;
  const body = { assistant_id: 'agent', input: {}, if_not_exists: 'create' };
  const said = async (thread_id: string | undefined) =>
    (await send('POST', `/deployments/shared/threads/${thread_id}/runs/wait`, body)).body.said;
  const { run_id } = (await send('POST', `/deployments/shared/threads/${inside}/runs`, body)).body;
  const run = `/deployments/shared/threads/${inside}/runs/${run_id}`;
  await until('it executes', async () => (await send('GET', run)).body.status === 'running');

  await server.kill('SIGKILL');
  await server.restart();
  await until('it serves again', async () => (await send('GET', run)).status === 200);
  await writeFile(gate, '');
  expect((await send('GET', `${run}/join`)).body).toMatchObject({ said: 'second' });
  expect([await said(inside), await said(outside)]).toEqual(['second', 'first']);
  expect(await newest(id)).toMatchObject({ id: canary.id, is_canary: true });

  const promoted = await send('POST', `/v2/deployments/${id}/revisions/${canary.id}/promote`);
  expect(promoted.status).toBe(200);
  await server.kill('SIGKILL');
  await server.restart();
  await until('it serves again', async () => (await send('GET', run)).status === 200);
  expect([await said(inside), await said(outside)]).toEqual(['second', 'second']);
  expect(await newest(id)).toMatchObject({ is_canary: false, is_active: true });
});

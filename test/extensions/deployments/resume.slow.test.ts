import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { graphThat, KEY, openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { naming } from '../../support/naming.ts';
import { until } from '../../support/until.ts';

/** It never finishes loading while there is a file `gate`. */
function projectThatHangs(gate: string) {
  return {
    ...projectThat('hangs'),
    'agent.ts': `import { existsSync } from 'node:fs';
if (existsSync(${JSON.stringify(gate)})) await new Promise(() => setInterval(() => {}, 1000));
${graphThat('hangs')}`,
  };
}

test('a stored revision that hangs while loading does not block the server', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-resume-'));
  await using _folder = {
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 10 }),
  };
  const options = { folder, deployments: { build_timeout_seconds: 40 } };
  const gate = join(folder, 'gate');
  const hanging = projectThatHangs(gate);
  let id: string;
  {
    await using server = await openDeploymentServer(options);
    id = (await server.create('hangs')).id;
    expect((await server.deploy(id, hanging)).status).toBe('DEPLOYED');
    await server.deploy((await server.create('good')).id, projectThat('good'));
  }
  await writeFile(gate, '');

  await using server = await openDeploymentServer(options);
  await until('the other one serves', async () => (await server.run('good')).status === 200);
  const headers = { 'x-api-key': KEY };
  const answer = await fetch(`${server.url}/deployments/hangs/info`, { headers });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  const other = await server.create('new');
  expect((await server.deploy(other.id, projectThat('new'))).status).toBe('DEPLOYED');

  const given_up = () => server.log.find(({ message }) => message === 'cannot serve a deployment');
  await until('it is given up', () => given_up() !== undefined);
  expect(given_up()?.fields).toMatchObject({ deployment: 'hangs' });
  expect(String(given_up()?.fields['error'])).toEqual(naming('40 seconds'));
  expect((await server.get('/deployments/hangs/info')).status).toBe(503);
  expect((await server.deploy(id, projectThat('mended'))).status).toBe('DEPLOYED');
  expect((await server.run('hangs')).body).toMatchObject({ said: 'mended' });
});

test('a new revision replaces one that hangs, and a server that stops does not wait for it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-resume-'));
  await using _folder = {
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 10 }),
  };
  const gate = join(folder, 'gate');
  const hanging = projectThatHangs(gate);
  let id: string;
  {
    await using server = await openDeploymentServer({ folder });
    id = (await server.create('hangs')).id;
    await server.deploy(id, hanging);
  }
  await writeFile(gate, '');
  {
    await using _stopped = await openDeploymentServer({ folder });
  }
  await using server = await openDeploymentServer({ folder });
  expect((await server.deploy(id, projectThat('mended'))).status).toBe('DEPLOYED');
  expect((await server.run('hangs')).body).toMatchObject({ said: 'mended' });
  expect(server.log.filter(({ message }) => message === 'cannot serve a deployment')).toEqual([]);
});

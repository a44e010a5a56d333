import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KEY, openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { agentServer } from '../../support/program.ts';
import { project } from '../../support/project.ts';

test('the command line deploys a folder, and lists, shows, rolls back and deletes the deployment', async () => {
  await using server = await openDeploymentServer();
  await using app = await project({
    ...projectThat('first', 'GREETING'),
    '.env': 'GREETING=hello-from-a-file\n',
  });
  const target = ['--url', server.url, '--key', KEY];
  const cli = (...args: string[]) => agentServer([...args, ...target]);

  const first = await cli('deploy', app.root, '--name', 'shop', '--env-file', join(app.root, '.env'));
  expect(first).toMatchObject({ code: 0, stdout: `${server.url}/deployments/shop\n` });
  expect(first.stderr).toContain('  switch …');
  expect((await server.run('shop')).body).toMatchObject({ said: 'first', env: 'hello-from-a-file' });

  await writeFile(join(app.root, 'agent.ts'), 'throw new Error("no such luck")');
  const broken = await cli('deploy', app.root, '--name', 'shop', '--json');
  expect(broken.code).toBe(1);
  expect(JSON.parse(broken.stdout)).toMatchObject({ status: 'DEPLOY_FAILED', number: 2 });
  expect(broken.stderr).toMatch(
    /DEPLOY_FAILED at step "check": The graph "agent" cannot be loaded: .*no such luck/,
  );

  await app.write(projectThat('third'));
  expect((await cli('deploy', app.root, '--name', 'shop')).code).toBe(0);
  expect((await server.run('shop')).body).toMatchObject({ said: 'third', env: null });

  expect((await cli('deployments', 'list')).stdout).toMatch(/^shop +READY +http:.*\/deployments\/shop\n$/);
  const rollback = await cli('deployments', 'rollback', 'shop');
  expect(rollback).toMatchObject({ code: 0, stdout: expect.stringMatching(/^#4 .* DEPLOYED\n$/) });
  expect((await server.run('shop')).body).toMatchObject({ said: 'first' });
  const { stdout } = await cli('deployments', 'show', 'shop');
  const [details = '', revisions = ''] = stdout.split('\nrevisions\n');
  expect(revisions.split('\n').map((line) => /(#\d) .*Z (\w+)/.exec(line)?.slice(1).join(' '))).toEqual([
    '#4 DEPLOYED',
    '#3 REPLACED',
    '#2 DEPLOY_FAILED',
    '#1 REPLACED',
    undefined,
  ]);
  expect(details).toMatch(
    /^shop {2}READY {2}http:\S+\/deployments\/shop\n {2}serves +revision 4 since \d{4}-/,
  );
  expect(details).toMatch(/\n {2}health +healthy \(checked at /);
  expect(details).toMatch(/\n {2}queue +0 runs pending, 0 running\n/);
  expect(details).toMatch(
    /\n {2}revision 4 +serving since \S+: 0 runs, .*; 1 of 1 host ready, \d+ MB, 0 restarts/,
  );
  expect(details).toMatch(/\n {2}steps of 4 +start \d+\.\d s, check \d+\.\d s, switch \d+\.\d s\n/);
  expect(details).toMatch(/\n {2}source +uploads\n {2}next +Call it: /);
  const shown = JSON.parse((await cli('deployments', 'show', 'shop', '--json')).stdout);
  expect(shown).toMatchObject({
    ...{ name: 'shop', health: { active_revision: { number: 4 }, check: { ok: true } } },
    ...{ hooks: { resources: [] }, repository_token: { is_set: false }, deploy_key: { public_key: null } },
  });
  const logs = await cli('deployments', 'logs', 'shop', '--type', 'build', '--revision', '2');
  expect(logs.stdout).toMatch(/ERROR {3}The graph "agent" cannot be loaded/);
  expect(logs.stdout + rollback.stdout + first.stderr).not.toContain('hello-from-a-file');

  expect(await cli('deployments', 'show', 'nothing')).toMatchObject({ code: 1 });
  expect(await cli('deployments', 'delete', 'shop')).toMatchObject({ code: 2 });
  expect(await cli('deployments', 'delete', 'shop', '--force')).toMatchObject({ code: 0, stdout: '' });
  expect((await server.run('shop')).status).toBe(404);
});

test('the command line prints the end of a build that fails, also as the logs of its revision', async () => {
  await using server = await openDeploymentServer({ build: undefined });
  await using app = await project({
    ...projectThat('first'),
    'package.json': '{ "dependencies": { "tools": "file:../tools.tgz" } }',
  });
  const target = ['--url', server.url, '--key', KEY];

  const { code, stderr } = await agentServer(['deploy', app.root, '--name', 'shop', ...target]);
  const logs = await agentServer(['deployments', 'logs', 'shop', ...target]);

  expect(code).toBe(1);
  expect(stderr).toMatch(
    /\n {2}.*tools from file:\.\.\/tools\.tgz.*\nagent-server: BUILD_FAILED at step "install": /,
  );
  expect(logs).toMatchObject({ code: 0, stdout: expect.stringContaining('file:../tools.tgz') });
});

test('the command line prints the last fifteen lines of the command that fails', async () => {
  await using server = await openDeploymentServer({ build: undefined });
  const script = "for (let n = 1; n <= 40; n++) console.log('output', n);\nprocess.exitCode = 1;\n";
  await using app = await project({
    ...projectThat('first'),
    'package.json': '{ "scripts": { "postinstall": "node postinstall.mjs" } }',
    'postinstall.mjs': script,
  });
  const target = ['--url', server.url, '--key', KEY];

  const { code, stderr } = await agentServer(['deploy', app.root, '--name', 'shop', ...target]);
  const logs = await agentServer(['deployments', 'logs', 'shop', ...target]);

  expect(code).toBe(1);
  const [, printed = ''] = /\n {2}install …\n((?: {2}.*\n)*)agent-server: BUILD_FAILED /.exec(stderr) ?? [];
  const lines = printed.trimEnd().split('\n');
  expect(lines).toHaveLength(15);
  expect(printed).toContain('output 40\n');
  expect(printed).not.toMatch(/output 1\n/);
  // Without the time and the level, which come first there.
  const logged = logs.stdout.trimEnd().split('\n').slice(-15);
  expect(logged.map((line) => line.split(/ +/).slice(2).join(' '))).toEqual(
    lines.map((line) => line.trim().split(/ +/).join(' ')),
  );
});

test('the command line deploys, shows, ends and promotes a canary', async () => {
  await using server = await openDeploymentServer();
  await using app = await project(projectThat('first'));
  const target = ['--url', server.url, '--key', KEY];
  const cli = (...args: string[]) => agentServer([...args, ...target]);
  const deploy = (...args: string[]) => cli('deploy', app.root, '--name', 'shop', ...args);

  expect(await deploy('--canary', '100')).toMatchObject({ code: 2 });
  expect((await deploy()).code).toBe(0);
  expect(await cli('deployments', 'promote', 'shop')).toMatchObject({ code: 1 });
  expect((await deploy('--canary', '10')).code).toBe(0);
  expect((await cli('deployments', 'show', 'shop')).stdout).toMatch(
    /#2 .* CANARY 10 %\n {2}#1 .* DEPLOYED\n/,
  );
  const ended = await cli('deployments', 'rollback', 'shop');
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^#2 .* INTERRUPTED\n$/) });

  expect((await deploy('--canary', '10')).code).toBe(0);
  const promoted = await cli('deployments', 'promote', 'shop');
  expect(promoted).toMatchObject({ code: 0, stdout: expect.stringMatching(/^#3 .* DEPLOYED\n$/) });
  expect((await cli('deployments', 'show', 'shop')).stdout).toMatch(/#1 .* REPLACED\n/);
});

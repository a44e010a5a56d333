import { expect, test } from 'vitest';
import { RevisionError } from '../../../src/extensions/deployments/services/builder.ts';
import { KEY, openDeploymentServer } from '../../support/deployments.ts';
import { hookOf, SHA, sendHook } from '../../support/git-hooks.ts';
import { naming } from '../../support/naming.ts';
import { agentServer } from '../../support/program.ts';

test('the command line sets up hooks, a deploy key and a token of a deployment', async () => {
  await using server = await openDeploymentServer({
    build: () => Promise.reject(new RevisionError('source', 'no_git', 'Nothing is built in this test.')),
  });
  const target = ['--url', server.url, '--key', KEY];
  const cli = (...args: string[]) => agentServer([...args, ...target]);
  const https = ['deploy', 'https://example.com/me/agent.git', '--ref', 'main', '--no-wait'];
  expect((await cli(...https, '--build-on-push')).code).toBe(0);
  const [{ id, source_config }] = (await server.get('/v2/deployments')).body.resources;
  expect(source_config.build_on_push).toBe(true);
  // Another deploy leaves it as it is.
  await cli(...https);
  expect((await server.get(`/v2/deployments/${id}`)).body.source_config.build_on_push).toBe(true);

  const secret = await cli('deployments', 'hook-secret', 'agent');
  expect(secret).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[\w-]{43}\n$/) });
  const url = `${server.url}/v2/deployments/${id}/hooks/github`;
  expect(secret.stderr).toContain(url);
  await sendHook(url, hookOf('github', secret.stdout.trim()));
  await sendHook(url, hookOf('github', secret.stdout.trim(), { ref: 'refs/heads/dev' }));
  const hooks = await cli('deployments', 'hooks', 'agent');
  expect(hooks.stdout).toMatch(
    /^ {2}branch +refs\/heads\/main\n {2}secret +created \d{4}-.*\n {2}polling +off: /,
  );
  expect(hooks.stdout).toMatch(
    /Z github push ignored: .*refs\/heads\/dev.*\n.*Z github push queued: aaaaaaaa as revision \S{36}\n$/,
  );
  const json = JSON.parse((await cli('deployments', 'hooks', 'agent', '--json')).stdout);
  expect(json.resources[1]).toMatchObject({ commit_sha: SHA, outcome: 'queued' });

  const none = await cli('deployments', 'deploy-key', 'agent');
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('--new') });
  const made = await cli('deployments', 'deploy-key', 'agent', '--new');
  expect(made).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ssh-ed25519 \S+ agent-server agent\n$/),
  });
  expect((await cli('deployments', 'deploy-key', 'agent')).stdout).toBe(made.stdout);
  expect((await cli('deployments', 'deploy-key', 'agent', '--forget-hosts', '--delete')).code).toBe(0);
  expect((await cli('deployments', 'deploy-key', 'agent')).code).toBe(1);

  const token = (input: string, ...more: string[]) =>
    agentServer(['deployments', 'token', 'agent', ...more, ...target], { input });
  expect(await token('a-token-of-mine\n', '--username', 'ada')).toEqual({
    code: 0,
    stdout: '',
    stderr: naming('"agent"', 'example.com'),
  });
  expect((await server.get(`/v2/deployments/${id}/repository-token`)).body).toMatchObject({
    is_set: true,
    username: 'ada',
  });
  const { stdout } = await cli('deployments', 'show', 'agent');
  expect(stdout).toMatch(/\n {2}serves +nothing yet\n {2}health +unknown/);
  expect(stdout).toMatch(
    /\n {2}pushes +refs\/heads\/main\n {2}hooks +secret created \S+; last \S+, ignored\n/,
  );
  expect(stdout).toMatch(/\n {2}repository +https:\S+agent.git, .*token.* example.com\n/);
  expect(stdout).toMatch(/\n {2}next +Fix what failed.*\n +npx agent-server deploy https:/);
  expect(await token('')).toMatchObject({ code: 2, stderr: expect.stringContaining('on stdin') });
  expect((await token('', '--delete')).code).toBe(0);
  expect((await server.get(`/v2/deployments/${id}/repository-token`)).body.is_set).toBe(false);
});

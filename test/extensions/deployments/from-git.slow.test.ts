import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { PACKAGES } from '../../support/project.ts';
import { repository } from '../../support/repository.ts';

test('a repository is deployed by URL, then at a new commit, after a failure, and at an old commit', async () => {
  await using server = await openDeploymentServer({
    build: undefined,
    deployments: { allow_local_sources: true },
  });
  await using sources = await repository(projectThat('first'));
  const { id } = await server.create('from-git', {
    source: 'github',
    source_config: {
      integration_id: 'ignored',
      repo_url: sources.url,
      install_command: `ln -s ${PACKAGES} node_modules`,
    },
    source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
  });
  const latest = async () =>
    (await server.get(`/v2/deployments/${id}/revisions?limit=1`)).body.resources[0].id;
  const first = await server.ended(id, await latest());
  expect(first).toMatchObject({
    status: 'DEPLOYED',
    commit: { sha: sources.first, author: 'Ada <ada@example.com>', message: 'first' },
    source_revision_config: { repo_commit_sha: sources.first },
  });
  expect(first.build_steps.map(({ name, status }) => `${name} ${status}`)).toEqual(
    ['source', 'config', 'install', 'start', 'check', 'switch'].map((name) => `${name} done`),
  );
  expect((await server.run('from-git')).body).toMatchObject({ said: 'first' });

  await sources.commit({ 'langgraph.json': '{' }, 'broken');
  await server.post(`/v2/deployments/${id}/revisions`);
  const broken = await server.ended(id, await latest());
  expect(broken).toMatchObject({
    status: 'BUILD_FAILED',
    failure: { step: 'config', hint: expect.any(String) },
  });
  expect((await server.run('from-git')).body).toMatchObject({ said: 'first' });

  await sources.commit(projectThat('second'), 'second');
  await server.post(`/v2/deployments/${id}/revisions`);
  expect(await server.ended(id, await latest())).toMatchObject({
    status: 'DEPLOYED',
    commit: { message: 'second' },
  });
  expect((await server.run('from-git')).body).toMatchObject({ said: 'second' });

  await server.post(`/v2/deployments/${id}/revisions`, {
    source_revision_config: { repo_commit_sha: sources.first },
  });
  expect(await server.ended(id, await latest())).toMatchObject({ commit: { sha: sources.first } });
  expect((await server.run('from-git')).body).toMatchObject({ said: 'first' });

  const { body } = await server.post(`/v1/projects/${id}/revisions/${first.id}/build_logs`, {
    limit: 100,
    order: 'desc',
  });
  expect(body.logs.length).toBeGreaterThan(3);
  expect(body.logs[0]).toEqual({
    id: expect.any(String),
    timestamp: expect.stringMatching(/Z$/),
    level: 'INFO',
    message: expect.any(String),
  });

  // A build of root's server has a user of its own, which can pass through the folders and read nothing in them.
  const apps = join(server.folder, '.agent-server/deployments/apps');
  const mode = async (name: string) => (await stat(join(apps, name))).mode & 0o777;
  expect(await mode('from-git/data.sqlite')).toBe(0o600);
  expect(await mode('from-git')).toBe(process.getuid?.() === 0 ? 0o711 : 0o700);
});

import { expect, test } from 'vitest';
import { openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { hookOf, sendHook } from '../../support/git-hooks.ts';
import { PACKAGES } from '../../support/project.ts';
import { repository } from '../../support/repository.ts';

test('hooks that arrive late, again and out of order deploy what the branch points to', async () => {
  await using server = await openDeploymentServer({
    build: undefined,
    deployments: { allow_local_sources: true },
  });
  await using sources = await repository(projectThat('first'));
  const { id } = await server.create('agent', {
    source: 'github',
    source_config: {
      repo_url: sources.url,
      build_on_push: true,
      install_command: `ln -s ${PACKAGES} node_modules`,
    },
    source_revision_config: { repo_ref: 'main' },
  });
  const revisions = async () =>
    (await server.get(`/v2/deployments/${id}/revisions?limit=100`)).body.resources;
  const newest = async () => server.ended(id, (await revisions())[0].id);
  const { secret, urls } = (await server.post(`/v2/deployments/${id}/hook-secret`)).body;
  /** A hook without a delivery id: the server cannot see that it is a repetition. */
  const report = async (sha: string) => {
    const { body } = await sendHook(urls.generic, hookOf('generic', secret, { sha }));
    return { outcome: body.outcome, revision: await newest() };
  };
  expect(await newest()).toMatchObject({ number: 1, status: 'DEPLOYED', commit: { sha: sources.first } });

  const second = await sources.commit(projectThat('second'), 'second');
  const third = await sources.commit(projectThat('third'), 'third');
  expect((await report(third)).revision).toMatchObject({
    number: 2,
    status: 'DEPLOYED',
    commit: { sha: third },
  });
  expect((await report(second)).revision).toMatchObject({ number: 3, status: 'SKIPPED' });
  expect((await server.run('agent')).body).toMatchObject({ said: 'third' });

  const [, , first] = await revisions();
  await server.post(`/v2/deployments/${id}/revisions/${first.id}/redeploy`);
  expect(await newest()).toMatchObject({ number: 4, status: 'DEPLOYED', commit: { sha: sources.first } });
  for (const sha of [second, third])
    expect((await report(sha)).revision).toMatchObject({ status: 'SKIPPED' });
  expect((await server.run('agent')).body).toMatchObject({ said: 'first' });

  const fourth = await sources.commit(projectThat('fourth'), 'fourth');
  expect((await report(second)).revision).toMatchObject({ status: 'DEPLOYED', commit: { sha: fourth } });
  expect((await server.run('agent')).body).toMatchObject({ said: 'fourth' });
});

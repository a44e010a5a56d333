import { expect, test } from 'vitest';
import { KEY, openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { PACKAGES } from '../../support/project.ts';
import { printedBy, python } from '../../support/python.ts';
import { repository } from '../../support/repository.ts';

test.runIf(python)('the Python example of the control plane deploys any git repository', async () => {
  await using server = await openDeploymentServer({
    build: undefined,
    deployments: { allow_local_sources: true },
  });
  await using sources = await repository(projectThat('hello', 'OPENAI_API_KEY'));
  const install = `ln -s ${PACKAGES} node_modules`;

  expect(await printedBy('python_control_plane.py', server.url, KEY, sources.url, install)).toMatchObject({
    statuses: [201, 200, 200, 200, 204],
    url: `${server.url}/deployments/my_deployment`,
    answer: { said: 'hello', env: 'test_openai_api_key' },
    revisions: [
      { status: 'DEPLOYED', number: 1, commit: { sha: sources.first } },
      { status: 'DEPLOYED', number: 2, commit: { sha: sources.first } },
    ],
  });
  expect((await server.get('/v2/deployments')).body.resources).toEqual([]);
});

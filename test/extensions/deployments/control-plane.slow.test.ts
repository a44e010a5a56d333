import { expect, test } from 'vitest';
import { openDeploymentServer, projectThat } from '../../support/deployments.ts';

test('uploaded sources are built and served under the name of the deployment', async () => {
  await using server = await openDeploymentServer();
  const secrets = [{ name: 'GREETING', value: 'a value that nobody sees' }];
  const created = await server.create('demo', { secrets });
  expect(created).toMatchObject({
    name: 'demo',
    status: 'UNUSED',
    latest_revision_id: null,
    secrets: [{ name: 'GREETING', value: '********' }],
  });

  const revision = await server.deploy(created.id, projectThat('hello', 'GREETING'));
  expect(revision).toMatchObject({ status: 'DEPLOYED', failure: null, is_active: true, number: 1 });

  const deployment = (await server.get(`/v2/deployments/${created.id}`)).body;
  expect(deployment).toMatchObject({ status: 'READY', active_revision_id: revision.id });
  expect(deployment.source_config.custom_url).toBe(`${server.url}/deployments/demo`);
  const run = await server.run('demo');
  expect(run.body).toMatchObject({ said: 'hello', env: 'a value that nobody sees' });
  expect(run.body.pid).not.toBe(process.pid);
  expect(process.env['GREETING']).toBeUndefined();
  expect((await server.get('/deployments/demo/docs')).status).toBe(200);
});

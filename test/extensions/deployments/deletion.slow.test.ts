import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deploymentSettings } from '../../../src/extensions/deployments/section.ts';
import { openDeploymentServer, projectThat } from '../../support/deployments.ts';

test('a deployment can be deleted while its canary is promoted or ended, and its name can be used again', async () => {
  await using server = await openDeploymentServer();
  const names = () => readdir(join(deploymentSettings(server.config).folder, 'apps'));
  const body = { assistant_id: 'agent', input: {}, if_not_exists: 'create' };
  for (const verbs of [
    ['promote', 'delete'],
    ['delete', 'promote'],
    ['interrupt', 'delete'],
    ['delete', 'interrupt'],
  ]) {
    const { id } = await server.create('agent');
    const base = `/v2/deployments/${id}`;
    expect((await server.deploy(id, projectThat('one'))).status).toBe('DEPLOYED');
    expect((await server.post('/deployments/agent/threads/search')).body).toEqual([]);
    const canary = await server.deploy(id, projectThat('two'), { canary_percent: 50 });
    expect(canary.is_canary).toBe(true);
    let isOver = false;
    const load = Array.from({ length: 3 }, async () => {
      const statuses = new Set<number>();
      while (!isOver) {
        const path = `/deployments/agent/threads/${randomUUID()}/runs`;
        statuses.add((await server.post(path, body)).status);
      }
      return statuses;
    });
    const answers = await Promise.all(
      verbs.map((verb) =>
        verb === 'delete'
          ? server.send('DELETE', base)
          : server.post(`${base}/revisions/${canary.id}/${verb}`),
      ),
    );
    isOver = true;
    const statuses = new Set((await Promise.all(load)).flatMap((each) => [...each]));
    // Never 500: what reaches a deployment that ends is told so.
    for (const status of statuses) expect([200, 404, 503]).toContain(status);
    expect(answers[verbs.indexOf('delete')]?.status).toBe(204);
    const decided = answers[verbs.findIndex((verb) => verb !== 'delete')];
    expect([200, 404, 409]).toContain(decided?.status);
    expect((await server.get(base)).status).toBe(404);
    expect((await server.get('/deployments/agent/ok')).status).toBe(404);
    expect(await names()).toEqual([]);
  }
  const again = await server.create('agent');
  expect((await server.deploy(again.id, projectThat('three'))).is_active).toBe(true);
  expect((await server.run('agent')).body.said).toBe('three');
  expect((await server.post('/deployments/agent/threads/search')).body).toEqual([]);
});

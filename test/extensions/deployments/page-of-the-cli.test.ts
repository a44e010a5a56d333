import { expect, test } from 'vitest';
import { openDeploymentServer } from '../../support/deployments.ts';

test('the URL that the official CLI prints redirects to the deployment in Studio, without a key and under any prefix', async () => {
  await using server = await openDeploymentServer();
  const { id, tenant_id } = await server.create('agent');
  const address = `${server.url}/o/${tenant_id}/host/deployments/${id}`;
  const answer = await fetch(address, { redirect: 'manual' });
  expect(answer.status).toBe(302);
  const to = answer.headers.get('location') ?? '';
  expect(new URL(to, address).href).toBe(`${server.url}/studio/deployments/${id}`);
  const behindProxy = address.replace(server.url, 'https://example.com/agents');
  expect(new URL(to, behindProxy).href).toBe(`https://example.com/agents/studio/deployments/${id}`);

  const elsewhere = `${server.url}/o/t/host/deployments/${encodeURIComponent('//example.com')}`;
  expect((await fetch(elsewhere, { redirect: 'manual' })).status).toBe(422);
  expect((await server.get('/studio/session')).body).toMatchObject({
    extensions: expect.arrayContaining(['deployments']),
  });
  expect(JSON.stringify((await server.get('/openapi.json')).body)).not.toContain('/host/deployments');
});

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { raw } from '../../../src/db/sql.ts';
import { deploymentSettings } from '../../../src/extensions/deployments/section.ts';
import { openTarget } from '../../../src/extensions/operations/copy/databases.ts';
import { KEY, openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { TEST_KEY } from '../../support/encryption.ts';
import { agentServer } from '../../support/program.ts';
import { until } from '../../support/until.ts';

const NEW_KEY = 'a new key that has 32 characters';

test('key rotation and the doctor cover the databases of deployments', async () => {
  const environment = { LANGGRAPH_AES_KEY: TEST_KEY };
  await using server = await openDeploymentServer({ environment });
  const { id } = await server.create('kept');
  await server.deploy(id, projectThat('encrypted'));
  const { thread_id } = (await server.post('/deployments/kept/threads')).body;
  await server.post(`/deployments/kept/threads/${thread_id}/runs/wait`, {
    assistant_id: 'agent',
    input: {},
  });
  await server.close();

  const both = { LANGGRAPH_AES_KEY: NEW_KEY, LANGGRAPH_AES_FALLBACK_KEYS: TEST_KEY };
  const configured = { DATABASE_URI: server.config.storage.url, AGENT_SERVER_API_KEYS: KEY };
  const command = (args: string[], env: Record<string, string>) =>
    agentServer(args, { cwd: server.folder, env: { ...configured, ...env } });
  const rotated = await command(['encryption', 'rotate'], both);
  expect(rotated).toMatchObject({ code: 0, stderr: '' });
  expect(rotated.stdout).toMatch(/^deployment kept, thread_values: 1$/m);

  {
    await using again = await openDeploymentServer({
      folder: server.folder,
      environment: { LANGGRAPH_AES_KEY: NEW_KEY },
    });
    const state = () => again.get(`/deployments/kept/threads/${thread_id}/state`);
    await until('it serves again', async () => (await state()).status !== 503);
    expect((await state()).body.values).toMatchObject({ said: 'encrypted' });
  }
  if (!server.config.storage.url.startsWith('sqlite:')) return;
  {
    await using db = await openTarget(
      `sqlite:${join(deploymentSettings(server.config).folder, 'apps/kept/data.sqlite')}`,
    );
    await db.run(raw('drop index runs_thread'));
  }
  const key = { LANGGRAPH_AES_KEY: NEW_KEY };
  const examined = await command(['doctor', '--json'], key);
  expect([examined.code, JSON.parse(examined.stdout).findings]).toEqual([
    1,
    [expect.objectContaining({ deployment: 'kept', check: 'indexes', level: 'problem', fixable: true })],
  ]);
  const fixed = await command(['doctor', '--fix'], key);
  expect([fixed.code, fixed.stdout]).toEqual([
    0,
    expect.stringMatching(/^fixed {4}deployment kept, indexes: runs_thread is missing/),
  ]);
});

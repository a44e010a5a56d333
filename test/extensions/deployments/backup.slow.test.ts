import { existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deploymentSettings } from '../../../src/extensions/deployments/section.ts';
import { deploymentData } from '../../../src/extensions/deployments/storage/owned-files.ts';
import { backupDatabase } from '../../../src/extensions/operations/backup/backup.ts';
import { restoreDatabase } from '../../../src/extensions/operations/backup/restore.ts';
import { openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { failure } from '../../support/naming.ts';
import { until } from '../../support/until.ts';

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'agent-server-backup-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 10 }) };
}

const placeOf = ({ config }: Awaited<ReturnType<typeof openDeploymentServer>>) => ({
  url: config.storage.url,
  files: [{ name: 'deployments', ...deploymentData(deploymentSettings(config).folder) }],
});

test('a backup of a running server contains its deployments, and another machine continues from it', async () => {
  await using backups = await temporaryFolder();
  await using elsewhere = await temporaryFolder();
  const file = join(backups.path, 'all.db');
  const threadIn = async (server: Awaited<ReturnType<typeof openDeploymentServer>>) =>
    (await server.post('/deployments/kept/threads')).body.thread_id as string;
  let before: string;
  let later: string;
  {
    await using server = await openDeploymentServer();
    await server.create('empty');
    const { id } = await server.create('kept');
    await server.deploy(id, projectThat('from the backup'));
    before = await threadIn(server);
    const backup = await backupDatabase({ file, ...placeOf(server) });
    expect(backup.files).toEqual({ deployments: ['kept'] });
    later = await threadIn(server);
    expect(readdirSync(backups.path).sort()).toEqual(['all.db', 'all.db.deployments']);
    const copy = statSync(join(backups.path, 'all.db.deployments/apps/kept/data.sqlite'));
    expect([copy.size > 0, copy.mode & 0o777]).toEqual([true, 0o600]);
    await expect(backupDatabase({ file, ...placeOf(server) })).rejects.toThrow('--force');
    await backupDatabase({ file: join(backups.path, 'again.db'), ...placeOf(server) });
    await expect(restoreDatabase({ file, ...placeOf(server), force: true })).rejects.toThrow(
      failure(Error, 'Another server'),
    );
  }

  await using restored = await openDeploymentServer({ folder: elsewhere.path });
  const place = placeOf(restored);
  await restored.close();
  const data = `${file}.deployments`;
  renameSync(data, `${data}-moved`);
  await expect(restoreDatabase({ file, ...place, force: true })).rejects.toThrow(
    failure(Error, 'empty, kept', data),
  );
  renameSync(`${data}-moved`, data);
  await restoreDatabase({ file, ...place, force: true });
  await expect(restoreDatabase({ file, ...place })).rejects.toThrow('replace it with --force');
  expect(existsSync(join(deploymentSettings(restored.config).folder, 'apps/kept/builds'))).toBe(false);

  await using server = await openDeploymentServer({ folder: elsewhere.path });
  await until('it was built again and serves', async () => (await server.run('kept')).status === 200);
  expect((await server.run('kept')).body).toMatchObject({ said: 'from the backup' });
  expect((await server.get(`/deployments/kept/threads/${before}`)).status).toBe(200);
  expect((await server.get(`/deployments/kept/threads/${later}`)).status).toBe(404);
});

import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { deploymentFiles } from '../../../src/extensions/deployments/storage/files.ts';
import type { DeploymentRow } from '../../../src/extensions/deployments/storage/rows.ts';
import { cleanUp } from '../../../src/extensions/deployments/work/clean-up.ts';
import type { WorkDeps } from '../../../src/extensions/deployments/work/work.ts';
import { project } from '../../support/project.ts';

const UPLOADS = 'uploads/00000000-0000-4000-8000-000000000000';

/** What `cleanUp` needs of a deployment with these revisions. */
function depsOf(row: DeploymentRow, revisions: Partial<WorkDeps['revisions']>): Omit<WorkDeps, 'files'> {
  return {
    deployments: { find: async () => row, findByName: async () => row },
    revisions: {
      find: async () => undefined,
      forgetBuilds: async () => [],
      listBuilt: async () => [],
      ...revisions,
    },
    plane: { foldersInUse: () => new Set() },
    measure: async () => 0,
    rules: { keep: 1, max_disk_mb: 1 },
    clock: { now: () => Date.now() + 24 * 3_600_000 },
  } as unknown as WorkDeps;
}

test('logs of old revisions are deleted, but not of those that may still run', async () => {
  await using folder = await project({});
  const files = deploymentFiles(folder.root);
  const ids = Array.from({ length: 30 }, (_, at) => `revision-${String(at).padStart(2, '0')}`);
  for (const id of ids) {
    for (const kind of ['build', 'deploy'] as const)
      files.log('agent', id, kind).write({ timestamp: '', level: 'INFO', message: 'a line' });
  }
  const [active, canary, stored, draining] = ids as [string, string, string, string];
  const row = {
    ...{ deployment_id: 'one', name: 'agent', active_revision_id: active, canary_revision_id: canary },
    source_revision_config: {},
  } as DeploymentRow;
  const deps = {
    ...depsOf(row, { forgetBuilds: async () => [stored] }),
    files,
    plane: { foldersInUse: () => new Set([files.build('agent', draining)]) },
  } as unknown as WorkDeps;
  await cleanUp(row, deps);
  for (const kind of ['build', 'deploy'] as const) {
    const left = (await files.logged('agent', kind)).map(({ revision_id }) => revision_id);
    expect(left.sort()).toEqual([active, canary, stored, draining, ...ids.slice(10)]);
  }
});

test('the uploads of the newest revision, the active one and those that a rollback may deploy are stored', async () => {
  await using folder = await project({});
  const files = deploymentFiles(folder.root);
  const uploads = ['newest', 'active', 'built', 'old'].map(
    (_, at) => `${UPLOADS}/00000000-0000-4000-8000-00000000000${at}.tar.gz`,
  );
  for (const path of uploads) await files.saveUpload(path, Readable.from(['sources']), 100);
  const [newest, active, built] = uploads.map((source_tarball_path) => ({
    source_revision_config: { source_tarball_path },
  }));
  const row = { ...newest, deployment_id: UPLOADS.slice(-36), name: 'agent', active_revision_id: 'active' };
  const revisions = { find: async () => active, listBuilt: async () => [built] };
  const deps = depsOf(row as DeploymentRow, revisions as unknown as WorkDeps['revisions']);
  await cleanUp(row as DeploymentRow, { ...deps, files } as WorkDeps);
  const left = await Promise.all(uploads.map((path) => files.hasUpload(row.deployment_id, path)));
  expect(left).toEqual([true, true, true, false]);
});

test('files that a build creates while its deployment is deleted are deleted too', async () => {
  await using folder = await project({});
  const files = deploymentFiles(folder.root);
  await files.database('agent');
  await files.setAside('one', 'agent');
  files
    .log('agent', 'a-revision', 'build')
    .write({ timestamp: '', level: 'WARNING', message: 'Interrupted.' });
  const deps = { deployments: { find: async () => undefined, findByName: async () => undefined }, files };
  await cleanUp({ deployment_id: 'one', name: 'agent' } as DeploymentRow, deps as unknown as WorkDeps);
  expect([await files.names(), await files.idsAside()]).toEqual([[], []]);
});

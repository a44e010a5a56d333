import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { systemActor } from '../../../src/auth/actor.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { Forbidden } from '../../../src/core/errors.ts';
import { systemIds } from '../../../src/core/ids.ts';
import { silentLogger } from '../../../src/core/logger.ts';
import {
  type DeploymentDeps,
  deploymentService,
} from '../../../src/extensions/deployments/services/control-plane.ts';
import { uploadService } from '../../../src/extensions/deployments/services/uploads.ts';
import { deploymentFiles } from '../../../src/extensions/deployments/storage/files.ts';
import { finishDeletions } from '../../../src/extensions/deployments/work/unfinished-deletions.ts';
import type { ServerSecretRepository } from '../../../src/storage/access/server-secrets.ts';
import { openDeploymentStorage } from '../../support/deployment-storage.ts';
import { partsOf } from '../../support/parts-of.ts';
import { project } from '../../support/project.ts';

const ACTOR = systemActor('test');

/** A deployment that has a database, and a service that deletes it, with parts replaced. */
async function stored(replaced: (deps: DeploymentDeps) => Partial<DeploymentDeps> = () => ({})) {
  const folder = await project({});
  const storage = await openDeploymentStorage({
    url: `sqlite:${folder.path('data.sqlite')}`,
    synchronous: 'full',
  });
  const files = deploymentFiles(folder.path('deployments'));
  const ids = systemIds(systemClock);
  const deps: DeploymentDeps = {
    ...storage,
    files,
    plane: { remove: async () => {} } as unknown as DeploymentDeps['plane'],
    bus: partsOf({ emit: () => {} }),
    ids,
    logger: silentLogger,
    allow_local_sources: false,
    pathOf: (name) => `/deployments/${name}`,
  };
  const deployment_id = ids.uuid4();
  const row = { deployment_id, name: 'agent', source_config: {}, source_revision_config: {} };
  await storage.deployments.insert({ ...row, source: 'internal_source' }, [], undefined);
  await writeFile(await files.database('agent'), 'threads');
  await storage.revisions.takeOver(ids.uuid4(), 3, { step: 'build', code: 'server_ended', hint: '' });
  const service = deploymentService({ ...deps, ...replaced(deps) });
  const secrets = partsOf<ServerSecretRepository>({ getOrCreate: async () => 'secret' });
  return {
    files,
    deployment_id,
    storage,
    uploads: uploadService({ ...deps, secrets, clock: systemClock }),
    remove: () => service.delete(ACTOR, deployment_id),
    restart: () => finishDeletions({ ...storage, files, logger: silentLogger }),
    async [Symbol.asyncDispose]() {
      await storage[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const fails = async () => {
  throw new Error('killed');
};

test('a new deployment with the name of one that is being deleted finds none of its files', async () => {
  await using deployment = await stored(({ files }) => ({ files: { ...files, remove: fails } }));
  const { files, remove, restart } = deployment;
  await expect(remove()).rejects.toThrow('killed');
  expect(await files.existingDatabase('agent')).toBeUndefined();
  expect(await files.names()).toEqual([]);

  await writeFile(await files.database('agent'), 'threads of the other one');
  await restart();
  expect(await files.existingDatabase('agent')).toBeDefined();
  expect(await files.idsAside()).toEqual([]);
});

test('a deployment whose deletion a killed server had only begun gets its files back', async () => {
  await using deployment = await stored();
  const { files, deployment_id, restart } = deployment;
  await files.setAside(deployment_id, 'agent');
  await restart();
  expect(await files.existingDatabase('agent')).toBeDefined();
  expect(await files.idsAside()).toEqual([]);
});

test('a deployment that storage does not delete keeps its files', async () => {
  await using deployment = await stored(({ deployments }) => ({
    deployments: { ...deployments, delete: fails },
  }));
  const { files, remove } = deployment;
  await expect(remove()).rejects.toThrow('killed');
  expect(await files.existingDatabase('agent')).toBeDefined();
  expect(await files.idsAside()).toEqual([]);
});

test('a deletion leaves no files, and repeating it is 404', async () => {
  await using deployment = await stored();
  const { files, remove } = deployment;
  await remove();
  expect([await files.names(), await files.idsAside()]).toEqual([[], []]);
  await expect(remove()).rejects.toThrow(/^Deployment .* not found$/);
});

test('an upload to a deployment that is deleted meanwhile is refused, and leaves nothing', async () => {
  await using deployment = await stored();
  const { files, deployment_id, uploads, remove } = deployment;
  const { upload_url, object_path } = await uploads.createUrl(ACTOR, deployment_id, 'http://server');
  const { expires = '', signature = '' } = Object.fromEntries(new URL(upload_url).searchParams);
  const ticket = { object_path, expires: Number(expires), signature };
  const upload = await uploads.open(ticket);
  await remove();
  await expect(upload.save(Readable.from(['sources']))).rejects.toBeInstanceOf(Forbidden);
  expect(existsSync(dirname(files.upload(object_path)))).toBe(false);
  await expect(uploads.open(ticket)).rejects.toBeInstanceOf(Forbidden);
});

import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { InsufficientStorage, StorageUnavailable } from '../../../src/core/errors.ts';
import { systemIds } from '../../../src/core/ids.ts';
import { silentLogger } from '../../../src/core/logger.ts';
import { RevisionError } from '../../../src/extensions/deployments/services/builder.ts';
import { deploymentFiles } from '../../../src/extensions/deployments/storage/files.ts';
import { OPEN_STATUSES, type RevisionRow } from '../../../src/extensions/deployments/storage/rows.ts';
import { deploymentQueue, type QueueDeps } from '../../../src/extensions/deployments/work/queue.ts';
import { openDeploymentStorage } from '../../support/deployment-storage.ts';
import { partsOf } from '../../support/parts-of.ts';
import { project } from '../../support/project.ts';
import { until } from '../../support/until.ts';

type Replaced = (deps: Pick<QueueDeps, 'revisions' | 'files'>) => Partial<QueueDeps>;

/** How a revision ends whose builds succeed, with parts of the queue replaced. */
async function ended(replaced: Replaced): Promise<RevisionRow | undefined> {
  await using folder = await project({});
  await using storage = await openDeploymentStorage({
    url: `sqlite:${folder.path('data.sqlite')}`,
    synchronous: 'full',
  });
  const ids = systemIds(systemClock);
  const [deployment_id, revision_id] = [ids.uuid4(), ids.uuid7()];
  const config = { source: 'github', source_revision_config: {} } as const;
  const row = { deployment_id, name: 'agent', source_config: {}, ...config };
  await storage.deployments.insert(row, [], { revision_id, trigger: 'api', ...config });
  const files = deploymentFiles(folder.root);
  const queue = deploymentQueue({
    ...storage,
    files,
    measure: async () => 0,
    clock: systemClock,
    ids,
    logger: silentLogger,
    bus: partsOf({ on: () => ({ [Symbol.dispose]: () => {} }) }),
    rules: { keep: 1, max_disk_mb: 1, build_timeout_seconds: 100 },
    plane: {
      deploy: async (_, { activate }) => (await activate()) !== undefined,
      foldersInUse: () => new Set(),
    },
    async build({ onStep, log }) {
      onStep('install');
      log({ step: 'install', level: 'INFO', message: 'installed' });
      return { commit: undefined, root: '.', config_file: 'langgraph.json', isolation: 'None.' };
    },
    ...replaced({ revisions: storage.revisions, files }),
  });
  await queue.takeOver();
  queue.start();
  const find = () => storage.revisions.find(deployment_id, revision_id);
  const isOpen = async () => (OPEN_STATUSES as readonly unknown[]).includes((await find())?.status);
  await until('the revision has ended', async () => !(await isOpen()));
  await queue.stop();
  return await find();
}

/** Storage that cannot change a status so many times. */
const failing =
  (times: number): Replaced =>
  ({ revisions }) => {
    let left = times;
    return {
      revisions: {
        ...revisions,
        async transition(...change) {
          left -= 1;
          if (left >= 0) throw new Error('The database does not respond.');
          return revisions.transition(...change);
        },
      },
    };
  };

test('a revision is retried after a storage failure, without a restart', async () => {
  expect(await ended(failing(2))).toMatchObject({ status: 'DEPLOYED' });
});

test('a revision fails after repeated storage failures', async () => {
  expect(await ended(failing(Number.POSITIVE_INFINITY))).toMatchObject({
    status: 'BUILD_FAILED',
    failure: { code: 'internal' },
    tries: 3,
  });
});

test('a revision is deployed although its log cannot be written', async () => {
  const revision = await ended(({ files }) => ({
    files: {
      ...files,
      log: (...of) => ({
        ...files.log(...of),
        write() {
          throw new Error('ENOSPC: no space left on device');
        },
      }),
    },
  }));
  expect(revision).toMatchObject({ status: 'DEPLOYED' });
});

test('a revision is built again, and does not fail, after the database was away during its checks', async () => {
  let checks = 0;
  const revision = await ended(() => ({
    plane: {
      async deploy(_, { activate }) {
        checks += 1;
        if (checks === 1) throw new StorageUnavailable('The database does not respond.');
        return (await activate()) !== undefined;
      },
      foldersInUse: () => new Set(),
    },
  }));
  expect(revision).toMatchObject({ status: 'DEPLOYED', failure: null, tries: 2 });
});

test('a build that fills the disk of the database fails with that reason, and is deleted', async () => {
  let folder = '';
  const revision = await ended(({ revisions }) => ({
    async build(request) {
      folder = request.folder;
      await mkdir(folder, { recursive: true });
      return { commit: undefined, root: '.', config_file: 'langgraph.json', isolation: 'None.' };
    },
    revisions: {
      ...revisions,
      async transition(...change) {
        if (existsSync(folder)) throw new InsufficientStorage('The disk of the database is full.');
        return revisions.transition(...change);
      },
    },
  }));
  expect(revision).toMatchObject({ status: 'BUILD_FAILED', failure: { code: 'disk_full' }, tries: 1 });
});

test('a failure with characters that a database cannot store is stored without them', async () => {
  const revision = await ended(() => ({
    async build() {
      throw new RevisionError('install', 'install_failed', 'It says \0 and \ud800.');
    },
  }));
  expect(revision?.failure?.hint).toBe('It says \ufffd and \ufffd.');
});

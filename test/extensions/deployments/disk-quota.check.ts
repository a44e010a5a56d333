import { randomBytes } from 'node:crypto';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { systemIds } from '../../../src/core/ids.ts';
import { memoryBus } from '../../../src/events/bus.ts';
import { diskUsage } from '../../../src/extensions/deployments/build/process/usage.ts';
import { announceQueued } from '../../../src/extensions/deployments/revision-events.ts';
import { deploymentFiles } from '../../../src/extensions/deployments/storage/files.ts';
import type { RevisionRow } from '../../../src/extensions/deployments/storage/rows.ts';
import { deploymentQueue } from '../../../src/extensions/deployments/work/queue.ts';
import { openDeploymentStorage } from '../../support/deployment-storage.ts';
import { naming } from '../../support/naming.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/until.ts';

const MB = 1024 ** 2;
const ENDED = ['DEPLOYED', 'BUILD_FAILED', 'DEPLOY_FAILED'];

/** A queue on real storage and files, whose builds are of a given size and are served by nothing. */
async function queueWith(rules: { max_disk_mb: number; keep: number }) {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-quota-'));
  const storage = await openDeploymentStorage({
    url: `sqlite:${join(folder, 'data.sqlite')}`,
    synchronous: 'full',
  });
  const files = deploymentFiles(folder);
  const ids = systemIds(systemClock);
  const draining = new Set<string>();
  let build_bytes = MB;
  const bus = memoryBus();
  const queue = deploymentQueue({
    ...storage,
    files,
    measure: diskUsage,
    clock: systemClock,
    ids,
    logger: recordingLogger('error', (line) => expect.fail(JSON.stringify(line))),
    bus,
    rules: { ...rules, build_timeout_seconds: 100 },
    plane: {
      deploy: async (_, { activate }) => (await activate()) !== undefined,
      foldersInUse: () => draining,
    },
    build: async ({ folder: build, cache }) => {
      for (const path of [build, cache]) await mkdir(path, { recursive: true });
      await writeFile(join(build, 'graph'), randomBytes(build_bytes));
      await writeFile(join(cache, 'packages'), randomBytes(MB));
      return {
        commit: undefined,
        root: 'source',
        config_file: 'langgraph.json',
        isolation: 'None: it is a test.',
      };
    },
  });
  await queue.takeOver();
  queue.start();
  const create = async (name: string) => {
    const deployment_id = ids.uuid4();
    const row = {
      deployment_id,
      name,
      source: 'github' as const,
      source_config: {},
      source_revision_config: {},
    };
    await storage.deployments.insert(row, [], undefined);
    return deployment_id;
  };
  const deploy = async (deployment_id: string, size_bytes = MB) => {
    build_bytes = size_bytes;
    const revision_id = ids.uuid7();
    await storage.revisions.insert(deployment_id, {
      revision_id,
      source: 'github',
      source_revision_config: {},
      trigger: 'api',
    });
    announceQueued(bus);
    const find = () => storage.revisions.find(deployment_id, revision_id);
    await until('the revision has ended', async () => ENDED.includes((await find())?.status ?? ''));
    return (await find()) as RevisionRow;
  };
  const kept = async (deployment_id: string) =>
    (await storage.revisions.list(deployment_id, { limit: 200, offset: 0 })).filter(
      ({ build_id }) => build_id !== null,
    );
  return {
    ...{ folder, files, draining, create, deploy, kept },
    used: (...names: string[]) => diskUsage(names.flatMap(files.measured)),
    async [Symbol.asyncDispose]() {
      await queue.stop();
      await storage[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

test('a hundred deploys stay below the disk quota, and the oldest builds of all deployments are deleted first', async () => {
  await using queued = await queueWith({ max_disk_mb: 16, keep: 100 });
  const quiet = await queued.create('quiet');
  const busy = await queued.create('busy');
  await queued.deploy(quiet);
  await queued.deploy(quiet);
  const ids: string[] = [];
  for (let n = 0; n < 100; n++) {
    ids.push((await queued.deploy(busy)).revision_id);
    expect(await queued.used('quiet', 'busy')).toBeLessThanOrEqual(16 * MB);
  }
  const kept = (await queued.kept(busy)).map(({ revision_id }) => revision_id);
  expect(kept.length).toBeGreaterThan(8);
  expect(kept).toEqual(ids.slice(-kept.length).reverse());
  // Only what serves is left of the other one.
  const [active, ...others] = await queued.kept(quiet);
  expect([active?.number, others]).toEqual([2, []]);
  await access(queued.files.build('quiet', active?.build_id as string));
  await expect(access(queued.files.cache('quiet'))).rejects.toThrow('ENOENT');
});

test('a build that exceeds the quota next to serving revisions fails, and those keep serving', async () => {
  await using queued = await queueWith({ max_disk_mb: 16, keep: 5 });
  const id = await queued.create('large');
  const served = await queued.deploy(id, 8 * MB);
  const second = await queued.deploy(id, 9 * MB);
  expect(second).toMatchObject({
    status: 'BUILD_FAILED',
    failure: {
      step: 'build',
      code: 'disk_quota',
      hint: naming('deployments.max_disk_mb', 16),
    },
  });
  await until('its files are gone', async () => (await queued.files.buildIds('large')).length === 1);
  expect((await queued.kept(id)).map(({ revision_id }) => revision_id)).toEqual([served.revision_id]);
  expect((await queued.deploy(id, 2 * MB)).status).toBe('DEPLOYED');
});

test('the build of an old revision is kept until its runs end, even beyond the limit of kept builds', async () => {
  await using queued = await queueWith({ max_disk_mb: 16, keep: 1 });
  const id = await queued.create('drains');
  const first = await queued.deploy(id, 7 * MB);
  queued.draining.add(queued.files.build('drains', first.revision_id));
  const second = await queued.deploy(id, 5 * MB);
  expect((await queued.deploy(id, 7 * MB)).failure?.code).toBe('disk_quota');
  const builds = async () => (await queued.files.buildIds('drains')).sort();
  await until('its files are gone', async () => (await builds()).length === 2);
  expect(await builds()).toEqual([first.revision_id, second.revision_id]);
  queued.draining.clear();
  expect((await queued.deploy(id, 7 * MB)).status).toBe('DEPLOYED');
});

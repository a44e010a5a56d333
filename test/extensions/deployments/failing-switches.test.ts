import { afterEach, beforeEach, expect, test } from 'vitest';
import { OWNED_DATA, sectionsOfServer } from '../../../src/app/extensions.ts';
import { openFoundation } from '../../../src/app/foundation.ts';
import type { CreateApp } from '../../../src/app/place.ts';
import type { ReplaceableApp } from '../../../src/app/replaceable-app.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { InsufficientStorage, StorageUnavailable, Unavailable } from '../../../src/core/errors.ts';
import { systemIds } from '../../../src/core/ids.ts';
import { silentLogger } from '../../../src/core/logger.ts';
import { openDeployments } from '../../../src/extensions/deployments/serving/data-plane.ts';
import type { ResumedCanary } from '../../../src/extensions/deployments/serving/resumption.ts';
import type { SlotDeps } from '../../../src/extensions/deployments/serving/revision-apps.ts';
import { DeploymentSlot } from '../../../src/extensions/deployments/serving/slot.ts';
import { deploymentDatabases } from '../../../src/extensions/deployments/storage/databases.ts';
import { deploymentFiles } from '../../../src/extensions/deployments/storage/files.ts';
import type { Apps } from '../../../src/extensions/extension.ts';
import type { KeyLookup } from '../../../src/storage/access/api-keys.ts';
import { openDeploymentStorage } from '../../support/deployment-storage.ts';
import { projectThat } from '../../support/deployments.ts';
import { type Project, project } from '../../support/project.ts';

let sources: Project;
beforeEach(async () => {
  sources = await project(projectThat('hello'));
});
afterEach(() => sources[Symbol.asyncDispose]());

/** An app without workers and hosts, whose steps may fail. */
function fakeApp(steps: Partial<Pick<ReplaceableApp, 'ready' | 'retire'>> = {}) {
  const calls: string[] = [];
  const ended = Promise.withResolvers<void>();
  const app = {
    server: {},
    graphs: { ids: [], loadErrors: () => [] },
    engine: { workers: () => ({ active: 0 }), hosts: () => [], queueCounts: async () => ({}) },
    services: { threads: { search: async () => ({ items: [] }) } },
    loaded: async () => {},
    ready: async () => {},
    retire: async () => {},
    endHosts: async () => void calls.push('endHosts'),
    async stop() {
      calls.push('stop');
      ended.resolve();
    },
    ...steps,
  } as unknown as ReplaceableApp;
  return { app, calls, ended: ended.promise };
}

const APPS = {
  openFoundation: (...[config, options]: Parameters<Apps['openFoundation']>) =>
    openFoundation(config, { ...options, owned: OWNED_DATA }),
  sectionsOfServer,
  resolveHost: async () => [],
  page: undefined,
};

/** A deployment whose revisions are these apps, one after the other; an error is that of creating one. */
const slotOf = (...apps: readonly (ReplaceableApp | Error)[]) => slotWith({}, ...apps);

async function slotWith(more: Pick<SlotDeps, 'patience_ms'>, ...apps: readonly (ReplaceableApp | Error)[]) {
  const config = (await loadConfig({ cwd: sources.root, environment: {} })).config;
  const files = deploymentFiles(sources.path('deployments'));
  const left = [...apps];
  const create: CreateApp = async () => {
    const next = left.shift();
    if (next === undefined || next instanceof Error) throw next;
    return next;
  };
  const slot = new DeploymentSlot('agent', {
    ...{ server: config, apps: { ...APPS, create }, files, root: undefined, is_protected: false },
    administrators: {} as KeyLookup,
    findPinned: async () => undefined,
    databases: await deploymentDatabases({
      ...{ url: 'sqlite:data.sqlite', files, onTaken: () => {} },
      connections: { server: 1, each: 1 },
      log: silentLogger,
    }),
    ...{ clock: systemClock, ids: systemIds(systemClock), logger: silentLogger, ...more },
  });
  const revisionOf = (revision_id: string, canary_percent: number | null = null) => {
    const { root: folder } = sources;
    const built = { root: '.', config_file: 'langgraph.json', isolation: 'none' };
    const rest = { was_checked: true, canary_percent, secrets: {} };
    return { deployment_id: 'of-agent', name: 'agent', revision_id, folder, built, ...rest };
  };
  const deploy = (revision_id: string, canary_percent: number | null = null, activate = async () => {}) =>
    slot.deploy(revisionOf(revision_id, canary_percent), {
      ...{ log: () => {}, onStep: () => {} },
      async activate() {
        await activate();
        return canary_percent === null ? 'active' : 'canary';
      },
      signal: new AbortController().signal,
    });
  const resume = (
    revision_id: string,
    find: ResumedCanary['find'] = async () => undefined,
    ended: string[] = [],
  ) =>
    slot.resume(revisionOf(revision_id), {
      limit_ms: 60_000,
      canaries: { find, end: async (id) => ended.push(id) > 0 },
    });
  return { deploy, resume, revisionOf, slot, [Symbol.asyncDispose]: () => slot.close(0) };
}

test('a revision that serves is not reported as failed when the database is away right after', async () => {
  const { config } = await loadConfig({
    cwd: sources.root,
    environment: {
      AGENT_SERVER_DEPLOYMENTS: 'true',
      AGENT_SERVER_API_KEYS: 'key',
      DATABASE_URI: `sqlite:${sources.path('main.sqlite')}`,
    },
  });
  await using storage = await openDeploymentStorage({ url: config.storage.url, synchronous: 'full' });
  const find = () => Promise.reject(new StorageUnavailable('The database does not respond.'));
  const { app } = fakeApp();
  const deployments = await openDeployments(config, {
    storage: { ...storage, deployments: { ...storage.deployments, find } },
    bus: { on: () => ({ [Symbol.dispose]: () => {} }), emit: () => {} } as never,
    ...{ access: {} as never, apps: { ...APPS, create: async () => app }, build: undefined },
    ...{ clock: systemClock, ids: systemIds(systemClock), logger: silentLogger },
  });
  const built = { root: '.', config_file: 'langgraph.json', isolation: 'none' };
  const revision = {
    deployment_id: 'of-agent',
    name: 'agent',
    revision_id: 'one',
    folder: sources.root,
    built,
  };
  const rest = { was_checked: true, canary_percent: null, secrets: {} };
  const control = { log: () => {}, onStep: () => {}, activate: async () => 'active' as const };
  const { signal } = new AbortController();
  expect(await deployments.plane.deploy({ ...revision, ...rest }, { ...control, signal })).toBe(true);
  await deployments.stop(0);
});

test('a revision whose workers cannot start yet serves requests and starts them later', async () => {
  const started = Promise.withResolvers<void>();
  let tries = 0;
  const { app, calls } = fakeApp({
    async ready() {
      tries += 1;
      if (tries === 1) throw new Error('The database does not respond.');
      started.resolve();
    },
  });
  await using deployment = await slotOf(app);
  expect(await deployment.deploy('one')).toBe(true);
  await started.promise;
  expect(deployment.slot.serves).toBe(true);
  expect(calls).toEqual([]);
});

test('an old revision whose workers fail to stop is ended with its hosts', async () => {
  const retire = async () => {
    throw new Error('The database does not respond.');
  };
  const [old, next] = [fakeApp({ retire }), fakeApp()];
  await using deployment = await slotOf(old.app, next.app);
  await deployment.deploy('one');
  await deployment.deploy('two');
  await old.ended;
  expect(old.calls).toEqual(['endHosts', 'stop']);
});

/** The decision is committed when it is asked first, and says so when it is asked again. */
function lostDecision() {
  const decided: boolean[] = [];
  return {
    decided,
    async decide() {
      decided.push(true);
      if (decided.length === 1) throw new Error('The connection was lost.');
      return true;
    },
  };
}

test('a revision serves when the acknowledgement of its activation is lost', async () => {
  const { app, calls } = fakeApp();
  await using deployment = await slotOf(app);
  const { decide, decided } = lostDecision();
  expect(await deployment.deploy('one', null, async () => void (await decide()))).toBe(true);
  expect(decided).toHaveLength(2);
  expect([deployment.slot.serves, calls]).toEqual([true, []]);
});

/** A database that is away until `back`. */
function outage() {
  let isAway = true;
  return {
    back(): void {
      isAway = false;
    },
    async decide() {
      if (isAway) throw new StorageUnavailable('The database does not respond.');
      return true;
    },
  };
}

test('requests and clients are refused while the database does not answer whether a canary is promoted', async () => {
  const [old, canary] = [fakeApp(), fakeApp()];
  await using deployment = await slotWith({ patience_ms: 20 }, old.app, canary.app);
  await deployment.deploy('one');
  await deployment.deploy('two', 20);
  const { back, decide } = outage();
  const mountOf = () => new Promise((resolve) => deployment.slot.withMount('/threads', resolve));
  expect(await mountOf()).toBeDefined();
  await expect(deployment.slot.promote('two', decide)).rejects.toThrow(Unavailable);
  expect(await mountOf()).toBeUndefined();
  expect((await deployment.slot.activity()).problem).toEqual(expect.any(String));
  back();
  await old.ended;
  expect(await mountOf()).toBeDefined();
  expect(canary.calls).toEqual([]);
});

test('a canary that cannot be loaded in an outage is not ended', async () => {
  const ended: string[] = [];
  const [active, canary] = [fakeApp().app, fakeApp().app];
  await using deployment = await slotOf(active, new StorageUnavailable('away'), canary);
  await deployment.resume('one', async () => deployment.revisionOf('two', 20), ended);
  expect((await deployment.slot.activity()).revisions.map(({ state }) => state)).toEqual([
    'serving',
    'serving',
  ]);
  expect(ended).toEqual([]);
});

test('a canary serves all requests when the acknowledgement of its promotion is lost', async () => {
  const [old, canary] = [fakeApp(), fakeApp()];
  await using deployment = await slotOf(old.app, canary.app);
  await deployment.deploy('one');
  await deployment.deploy('two', 20);
  const { decide, decided } = lostDecision();
  expect(await deployment.slot.promote('two', decide)).toBe(true);
  expect(decided).toHaveLength(2);
  await old.ended;
  expect(canary.calls).toEqual([]);
});

test('a canary ends when the acknowledgement of its end is lost', async () => {
  const [active, canary] = [fakeApp(), fakeApp()];
  await using deployment = await slotOf(active.app, canary.app);
  await deployment.deploy('one');
  await deployment.deploy('two', 20);
  const { decide, decided } = lostDecision();
  expect(await deployment.slot.endCanary('two', decide)).toBe(true);
  expect(decided).toHaveLength(2);
  await canary.ended;
  expect(active.calls).toEqual([]);
});

test.each([
  new InsufficientStorage('The disk of the database is full.'),
  new Unavailable('The database cannot be used right now.'),
])('the revision that served before a restart serves again after: $message', async (error) => {
  await using deployment = await slotOf(error, fakeApp().app);
  await deployment.resume('one');
  expect(deployment.slot.serves).toBe(true);
});

test('the revision that served before a restart fails if it cannot be loaded', async () => {
  await using deployment = await slotOf(new Error('no such package'), fakeApp().app);
  await expect(deployment.resume('one')).rejects.toThrow('no such package');
  expect(deployment.slot.serves).toBe(false);
});

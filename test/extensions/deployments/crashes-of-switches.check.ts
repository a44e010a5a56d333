import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isInShare } from '../../../src/extensions/deployments/canary.ts';
import { isFinal } from '../../../src/extensions/deployments/commands/client/follow.ts';
import type { Deployment, Revision } from '../../../src/extensions/deployments/schemas/deployments.ts';
import {
  startDeploymentProcess,
  threeSteps,
  writeDeploymentServer,
} from '../../support/deployment-process.ts';
import { PACKAGES } from '../../support/project.ts';
import { repository } from '../../support/repository.ts';
import { until } from '../../support/until.ts';

const PERCENT = 50;
/** How long after the request the server is killed, ms: before, while and after it is decided. */
const MOMENTS = [0, 4, 12];
const BASE = '/deployments/agent';

type Server = Awaited<ReturnType<typeof startDeployed>>;

/** A run that the server has acknowledged. */
interface Acknowledged {
  readonly thread_id: string;
  readonly run_id: string;
  readonly is_in_share: boolean;
}

/** A server in a process of its own, with the deployment `agent`; each revision has a version of its own. */
async function startDeployed() {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-switch-'));
  await writeDeploymentServer(folder);
  const { server, send } = await startDeploymentProcess(folder);
  const sources = await repository(threeSteps('v1'));
  const versions = new Map<string, string>();
  const { body } = await send('POST', '/v2/deployments', {
    name: 'agent',
    source: 'github',
    source_config: { repo_url: sources.url, install_command: `ln -s ${PACKAGES} node_modules` },
    source_revision_config: { repo_ref: 'main' },
  });
  const path = `/v2/deployments/${body.id}`;
  const newest = async (): Promise<Revision> =>
    (await send('GET', `${path}/revisions?limit=1`)).body.resources[0];
  const deployed = async (version: string): Promise<Revision> => {
    await until(`${version} has ended`, async () => isFinal(await newest()), 240_000);
    const revision = await newest();
    expect(revision).toMatchObject({ status: 'DEPLOYED', failure: null });
    versions.set(revision.id, version);
    return revision;
  };
  const started = {
    ...{ server, send, path, newest, deployed, versions },
    async canary(version: string): Promise<Revision> {
      await sources.commit(threeSteps(version), version);
      await send('POST', `${path}/revisions`, { canary_percent: PERCENT });
      return deployed(version);
    },
    async restart(): Promise<void> {
      await server.restart();
      await until('it serves again', async () => (await send('GET', `${BASE}/ok`)).status === 200);
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await sources[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
  try {
    await deployed('v1');
    return started;
  } catch (error) {
    await started[Symbol.asyncDispose]();
    throw error;
  }
}

/** Begins runs on new threads, one after another, until the server is gone. */
async function load({ send }: Server, acknowledged: Acknowledged[]): Promise<void> {
  const body = { assistant_id: 'agent', input: {}, if_not_exists: 'create' };
  for (;;) {
    const thread_id = randomUUID();
    const answer = await send('POST', `${BASE}/threads/${thread_id}/runs`, body).catch(() => undefined);
    if (!answer) return;
    expect(answer.status).toBe(200);
    const is_in_share = isInShare(thread_id, PERCENT);
    acknowledged.push({ thread_id, run_id: answer.body.run_id, is_in_share });
  }
}

/** Kills the server so many ms after the request; resolves to the acknowledged runs, and whether the request was. */
async function killedDuring(started: Server, path: string, moment: number) {
  const runs: Acknowledged[] = [];
  const loading = load(started, runs);
  await until('the load has begun', () => runs.length >= 20);
  const answer = started.send('POST', path).catch(() => undefined);
  await sleep(moment);
  await started.server.kill('SIGKILL');
  await loading;
  return { runs, isAnswered: (await answer)?.status === 200 };
}

/** The version of each step of each run: three, whatever happened. */
async function executed({ send }: Server, runs: readonly Acknowledged[]): Promise<string[][]> {
  return Promise.all(
    runs.map(async ({ thread_id, run_id }) => {
      const joined = await send('GET', `${BASE}/threads/${thread_id}/runs/${run_id}/join`);
      expect(joined.body).toMatchObject({
        done: [expect.any(String), expect.any(String), expect.any(String)],
      });
      return joined.body.done;
    }),
  );
}

/** What serves: exactly one active revision, and at most one canary, as the deployment says too. */
async function serving({ send, path, versions }: Server) {
  const { resources } = (await send('GET', `${path}/revisions?limit=100`)).body as { resources: Revision[] };
  const { active_revision_id, canary_revision_id } = (await send('GET', path)).body as Deployment;
  expect(resources.filter(({ is_active }) => is_active).map(({ id }) => id)).toEqual([active_revision_id]);
  const canaries = resources.filter(({ is_canary }) => is_canary).map(({ id }) => id);
  expect(canaries).toEqual(canary_revision_id === null ? [] : [canary_revision_id]);
  return {
    active: versions.get(active_revision_id ?? ''),
    canary: versions.get(canary_revision_id ?? ''),
  };
}

/** Versions that new runs get, in the share and outside. */
async function served({ send }: Server): Promise<(string | undefined)[]> {
  const said = async (isIn: boolean) => {
    let thread_id = randomUUID();
    while (isInShare(thread_id, PERCENT) !== isIn) thread_id = randomUUID();
    const body = { assistant_id: 'agent', input: {}, if_not_exists: 'create' };
    const answer = await send('POST', `${BASE}/threads/${thread_id}/runs/wait`, body);
    return new Set<string>(answer.body.done);
  };
  const [inside, outside] = [await said(true), await said(false)];
  expect([inside.size, outside.size]).toEqual([1, 1]);
  return [...inside, ...outside];
}

/** Each run began in one version, and went on in the other at most once. */
function expectOrder(steps: readonly string[][], before: string, after: string): void {
  const orders = [0, 1, 2, 3].map((count) => [...Array(count).fill(before), ...Array(3 - count).fill(after)]);
  for (const each of steps) expect(orders).toContainEqual(each);
}

test.each(['promote', 'interrupt'])(
  'a server that is killed at any moment of the %s of a canary loses no run, and one revision is active',
  async (verb) => {
    await using started = await startDeployed();
    let old = 'v1';
    for (const [at, moment] of MOMENTS.entries()) {
      const version = `v${at + 2}`;
      const canary = await started.canary(version);
      const request = `${started.path}/revisions/${canary.id}/${verb}`;
      const { runs, isAnswered } = await killedDuring(started, request, moment);
      await started.restart();

      const { active, canary: remaining } = await serving(started);
      const isDecided = remaining === undefined;
      if (isAnswered) expect(isDecided).toBe(true);
      const isPromoted = isDecided && verb === 'promote';
      expect(active).toBe(isPromoted ? version : old);
      const steps = await executed(started, runs);
      const [inside, outside] = [true, false].map((isIn) =>
        steps.filter((_, index) => runs[index]?.is_in_share === isIn),
      ) as [string[][], string[][]];
      expectOrder(inside, version, isDecided && !isPromoted ? old : version);
      expectOrder(outside, old, isPromoted ? version : old);
      expect(await served(started)).toEqual([isDecided ? active : version, active]);
      old = active as string;
    }
  },
  900_000,
);

test('a server that is killed at any moment of a rollback loses no run and completes the rollback', async () => {
  await using started = await startDeployed();
  const first = await started.newest();
  const second = await started.canary('v2');
  await started.send('POST', `${started.path}/revisions/${second.id}/promote`);
  const ids = [first.id, second.id];
  for (const [at, moment] of [0, 100].entries()) {
    const [to, from] = at % 2 === 0 ? ['v1', 'v2'] : ['v2', 'v1'];
    const { runs } = await killedDuring(started, `${started.path}/revisions/${ids[at % 2]}/redeploy`, moment);
    await started.restart();
    const newest = await started.newest();
    const isQueued = newest.trigger === 'manual' && !started.versions.has(newest.id);
    if (isQueued) await started.deployed(to as string);
    else await started.send('POST', `${started.path}/revisions/${ids[at % 2]}/redeploy`);
    await started.deployed(to as string);

    expect(await serving(started)).toEqual({ active: to, canary: undefined });
    expectOrder(await executed(started, runs), from as string, to as string);
    expect(await served(started)).toEqual([to, to]);
  }
}, 900_000);

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { allowedEnvironment } from '../../../src/extensions/deployments/build/process/environment.ts';
import type { Deployment, Revision } from '../../../src/extensions/deployments/schemas/deployments.ts';
import { type HttpClient, httpClient } from '../../support/http-client.ts';
import { startServer } from '../../support/server.ts';
import type { Measurement, Scenario } from '../measurements.ts';
import { type PushedProject, pushedProject } from '../pushed-project.ts';

const ROUNDS = 2;
const EMPTY_CACHE = 'empty cache';
const WARM_CACHE = { ms: 60_000, of: 'warm cache, another lock file' };
const UNCHANGED = { ms: 10_000, of: 'unchanged lock file' };
const ROLLBACK = { ms: 2000, of: 'rollback' };
/** Rare enough not to slow down what is measured. */
const POLL_MS = 50;

/** From `git push` to the first answer of the new revision, for a project of 300 packages. */
export const deployments: Scenario = {
  title: 'Deployments: from push to serving',
  async run() {
    const folder = await mkdtemp(join(tmpdir(), 'agent-server-bench-'));
    try {
      const project = await pushedProject(folder);
      // What builds get from the server, to reach the registry.
      await using server = await startServer({
        config: await configIn(folder),
        env: allowedEnvironment(process.env),
      });
      using http = httpClient(server.url);
      return await measure(http, project);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function configIn(folder: string): Promise<string> {
  const file = join(folder, 'agent.config.yaml');
  const graphs = { echo: join(import.meta.dirname, '../graphs/conversation.ts:graph') };
  await writeFile(
    file,
    JSON.stringify({ graphs, deployments: { enabled: true, allow_local_sources: true } }),
  );
  return file;
}

async function measure(http: HttpClient, project: PushedProject): Promise<Measurement[]> {
  await project.push(EMPTY_CACHE);
  const deployment = await deploymentOf(http, project);
  const measurements: Measurement[] = [{ what: 'packages', value: await project.packages(), unit: '' }];
  measurements.push(...(await deployment.created(EMPTY_CACHE)));
  for (let round = 1; round <= ROUNDS; round++) {
    await project.addPackage();
    measurements.push(...(await deployment.push(`${WARM_CACHE.of}, ${round}`, WARM_CACHE.ms)));
    measurements.push(...(await deployment.push(`${UNCHANGED.of}, ${round}`, UNCHANGED.ms)));
    measurements.push(...(await deployment.rollBack(`${ROLLBACK.of}, ${round}`, ROLLBACK.ms)));
  }
  return measurements;
}

async function deploymentOf(http: HttpClient, project: PushedProject) {
  const created = performance.now();
  const { id } = await http.call<Deployment>('POST', '/v2/deployments', {
    ...{ name: 'pushed', source: 'github' },
    source_config: { repo_url: pathToFileURL(project.remote).href, build_on_push: true },
    source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
  });
  const path = `/v2/deployments/${id}`;
  const { secret } = await http.call<{ secret: string }>('POST', `${path}/hook-secret`);
  const revisions = async () =>
    (await http.call<{ resources: Revision[] }>('GET', `${path}/revisions?limit=2`)).resources;

  /** Waits for the newest revision to serve, and for an answer of it. */
  async function served(says: string): Promise<Revision> {
    for (;;) {
      const [newest] = await revisions();
      if (newest?.failure) throw new Error(`${newest.failure.code}: ${newest.failure.hint}`);
      if (newest?.commit?.message === says && newest.is_active) {
        const run = { assistant_id: 'agent', input: {} };
        const answer = await http.call<{ said: string }>('POST', '/deployments/pushed/runs/wait', run);
        if (answer.said === says) return newest;
      }
      await sleep(POLL_MS);
    }
  }

  return {
    created: async (says: string) => measurementsOf(says, created, await served(says)),

    async push(what: string, aim_ms?: number): Promise<Measurement[]> {
      const began = performance.now();
      const sha = await project.push(what);
      // As a git service does.
      const headers = { authorization: `Bearer ${secret}` };
      await http.send('POST', `${path}/hooks/generic`, { headers, body: { ref: 'main', sha } });
      return measurementsOf(what, began, await served(what), aim_ms);
    },

    /** To the revision before the newest. */
    async rollBack(what: string, aim_ms: number): Promise<Measurement[]> {
      const [, before] = await revisions();
      const began = performance.now();
      await http.call('POST', `${path}/revisions/${before?.id}/redeploy`);
      return measurementsOf(what, began, await served(before?.commit?.message ?? ''), aim_ms);
    },
  };
}

function measurementsOf(
  what: string,
  began: number,
  { build_steps }: Revision,
  aim_ms?: number,
): Measurement[] {
  const total = { what, value: (performance.now() - began) / 1000, unit: 's' } as const;
  const steps = build_steps.map(({ name, started_at, ended_at }): Measurement => {
    const ms = Date.parse(ended_at ?? '') - Date.parse(started_at ?? '');
    return { what: `  ${name}`, value: ms / 1000, unit: 's' };
  });
  return [aim_ms === undefined ? total : { ...total, aim: aim_ms / 1000 }, ...steps];
}

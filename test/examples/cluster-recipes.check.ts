import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client, type Thread } from '@langchain/langgraph-sdk';
import { describe, expect, test } from 'vitest';
import { CADDY, startCaddy } from '../support/caddy.ts';
import { type PostgresSchema, postgresSchema, TEST_POSTGRES_URI } from '../support/postgres-schema.ts';
import type { Project } from '../support/project.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { filesOf, onlyBlock, ROOT } from './blocks.ts';
import { projectOf } from './project-of.ts';
import { KEY, script } from './recipe.ts';

const MACHINES = ['one', 'two', 'three'];

function serverOf(project: Project, { url }: PostgresSchema, env: Record<string, string> = {}) {
  return startServer({
    config: project.path('agent.config.yaml'),
    api_keys: [KEY],
    env: {
      DATABASE_URI: url,
      AGENT_SERVER_DATABASE_MAX_CONNECTIONS: '12',
      AGENT_SERVER_LEASE_SECONDS: '5',
      ...env,
    },
  });
}

test.skipIf(!CADDY)('docs/deployment.md: behind Caddy, tokens arrive while the run is executed', async () => {
  await using server = await startServer();
  const site = onlyBlock('docs/deployment.md', 'caddyfile', 'reverse_proxy');
  const own = site.replace('agents.example.com', ':8123');
  await using caddy = await startCaddy(own, { '127.0.0.1:8123': new URL(server.url).host });
  const client = new Client({ apiUrl: caddy.url, apiKey: null });
  const { thread_id } = await client.threads.create();
  const statuses: string[] = [];
  const input = { count: 20, token_ms: 100 };
  for await (const { event } of client.runs.stream(thread_id, 'tokens', {
    input,
    streamMode: 'messages-tuple',
  }))
    if (event === 'messages' && statuses.length === 0)
      statuses.push(...(await client.runs.list(thread_id)).map(({ status }) => status));

  expect(statuses).toEqual(['running']);
});

describe.skipIf(!TEST_POSTGRES_URI)('recipes for several processes on PostgreSQL', () => {
  test.skipIf(!CADDY)(
    'docs/recipes/three-machines.md: a client sees every step, in order, although the server that works is killed',
    async () => {
      const page = 'docs/recipes/three-machines.md';
      await using opened = new AsyncDisposableStack();
      const database = opened.use(await postgresSchema(TEST_POSTGRES_URI as string));
      const graph = filesOf(page)['graph.ts']?.replace('pause(1000)', 'pause(300)') ?? '';
      const project = opened.use(await projectOf(page, { 'graph.ts': graph }));
      const servers = await Promise.all(
        MACHINES.map(async () => opened.use(await serverOf(project, database))),
      );
      const site = onlyBlock(page, 'text', 'reverse_proxy').replace('agents.example.com', ':8123');
      const hosts = servers.map(({ url }, index) => [`${MACHINES[index]}.internal:8123`, new URL(url).host]);
      const caddy = opened.use(await startCaddy(site, Object.fromEntries(hosts)));

      const followed = script(project, ['follow.ts', '20'], { AGENT_URL: caddy.url, AGENT_KEY: KEY });
      const victim = await working(servers);
      await victim.kill('SIGKILL');
      const states = (await followed)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));

      const steps = states.map(({ done = 0 }) => done);
      // The state that the second server begins with comes once more.
      expect(steps.filter((step, index) => step !== steps[index - 1])).toEqual(Array.from(Array(21).keys()));
      expect(steps.length).toBeLessThanOrEqual(22);
      const workers = new Set(states.flatMap(({ by }) => by ?? []));
      expect([...workers]).toHaveLength(2);
    },
  );

  test('docs/recipes/blue-green.md: answers to threads that wait are executed by blue, and by green once blue has stopped', async () => {
    const page = 'docs/recipes/blue-green.md';
    await using opened = new AsyncDisposableStack();
    const database = opened.use(await postgresSchema(TEST_POSTGRES_URI as string));
    const green = opened.use(await projectOf(page));
    const old = filesOf(page)['graph.ts']?.replace(/`paid .*`/, "'paid'") ?? '';
    const blue = opened.use(await projectOf(page, { 'graph.ts': old }));
    const before = opened.use(await serverOf(blue, database));
    const asked = await waiting(before.client);
    const early = await waiting(before.client);

    const looking = opened.use(await serverOf(green, database, { AGENT_SERVER_ROLE: 'api' }));
    expect(await answered(looking.client, early)).toBe('paid');
    const after = opened.use(await serverOf(green, database));
    expect(await before.kill('SIGTERM')).toBe(0);

    expect(await interrupts(page, looking.url)).toBe('1');
    expect(await answered(looking.client, asked)).toBe('paid 7');
    expect(await waiting(after.client)).toEqual(expect.any(String));
  });
});

/** The server that executes the run, once it has done some steps. */
async function working(servers: readonly TestServer[]): Promise<TestServer> {
  const [{ client }] = servers as [TestServer];
  await expect.poll(async () => (await client.threads.search()).length).toBe(1);
  const [{ thread_id }] = (await client.threads.search()) as [Thread];
  const state = async () => (await client.threads.getState<{ done?: number; by?: number }>(thread_id)).values;
  await expect.poll(async () => (await state()).done ?? 0).toBeGreaterThan(2);
  const { by } = await state();
  return servers.find(({ pid }) => pid === by) as TestServer;
}

/** A thread that waits for a person. */
async function waiting(client: Client): Promise<string> {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'payments', { input: { amount: 7 } });
  return thread_id;
}

async function answered(client: Client, thread_id: string): Promise<unknown> {
  const values = await client.runs.wait(thread_id, 'payments', { command: { resume: true } });
  return (values as { answer?: unknown }).answer;
}

/** What the command of the page counts. */
async function interrupts(page: string, url: string): Promise<string> {
  const command = onlyBlock(page, 'sh', '/interrupts/count').replace('http://127.0.0.1:8124', url);
  const env = { ...process.env, AGENT_KEY: KEY };
  return (await promisify(execFile)('bash', ['-c', command], { cwd: ROOT, env })).stdout.trim();
}

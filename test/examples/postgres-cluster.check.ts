import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ALL_VARIABLES } from '../../src/config/config-file.ts';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/postgres-schema.ts';
import { inShell, onlyBlock, ROOT } from './blocks.ts';
import { started } from './started.ts';

const FOLDER = 'examples/postgres-cluster';
const README = `${FOLDER}/README.md`;
const textOf = (name: string) => readFileSync(join(ROOT, FOLDER, name), 'utf8');

/** The servers as processes, by the command of the README. */
async function startProcesses() {
  await using opened = new AsyncDisposableStack();
  const { url: DATABASE_URI } = opened.use(await postgresSchema(TEST_POSTGRES_URI as string));
  const command = onlyBlock(README, 'sh', 'processes.ts').replace(
    /^DATABASE_URI=\S+ npx node/,
    'exec npx node',
  );
  // A worker that knows of no other one keeps its runs when it is stopped.
  const { url } = opened.use(await started(command, { DATABASE_URI }, 'all processes are ready'));
  const all = opened.move();
  return { url, client: new Client({ apiUrl: url }), [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** As compose.yaml has it. */
interface Container {
  readonly environment?: Readonly<Record<string, string>>;
}

interface Steps {
  readonly done: number;
  readonly worker: string;
}

test.skipIf(!TEST_POSTGRES_URI)(
  'example for PostgreSQL: the official client streams a run through two servers, and a stopping worker hands it over',
  async () => {
    await using cluster = await startProcesses();
    const { client } = cluster;
    const states: Steps[] = [];
    let stopped = '';
    for await (const { event, data } of client.runs.stream(null, 'steps', {
      input: { steps: 10 },
      streamMode: 'values',
    })) {
      if (event !== 'values') continue;
      states.push(data as unknown as Steps);
      const worker = states.at(-1)?.worker.split(':').at(-1) ?? '';
      if (stopped !== '' || worker === '') continue;
      stopped = worker;
      process.kill(Number(worker), 'SIGTERM');
    }

    expect(states.map(({ done }) => done)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const workers = new Set(states.map(({ worker }) => worker).filter((worker) => worker !== ''));
    expect(workers.size).toBe(2);
    const [tried] = await inShell([onlyBlock(README, 'sh', 'curl')], cluster.url);
    expect(tried).toMatchObject({ statuses: [200], complaints: expect.not.stringContaining('error') });
    expect(tried?.output).toContain('"done":20');
  },
);

test('example for PostgreSQL: the containers are two API servers, two workers, and PgBouncer and a direct connection to the database', () => {
  const { services, volumes } = parse(textOf('compose.yaml'), { merge: true });
  const roles = Object.entries<Container>(services).flatMap(([name, { environment }]) => {
    const role = environment?.['AGENT_SERVER_ROLE'];
    return role === undefined ? [] : [[name, role]];
  });
  expect(roles).toEqual([
    ['api-1', 'api'],
    ['api-2', 'api'],
    ['worker-1', 'worker'],
    ['worker-2', 'worker'],
  ]);
  const { environment, stop_grace_period } = services['worker-1'];
  const { POSTGRES_DB } = services.database.environment;
  expect(environment.DATABASE_URI).toContain(`@pgbouncer:5432/${POSTGRES_DB}`);
  expect(environment.AGENT_SERVER_DATABASE_LISTEN_URL).toContain(`@database:5432/${POSTGRES_DB}`);
  expect(services.pgbouncer.environment).toMatchObject({ DB_NAME: POSTGRES_DB, POOL_MODE: 'transaction' });
  expect(Number(services.pgbouncer.environment.MAX_CLIENT_CONN)).toBeGreaterThan(roles.length * 20);
  expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(180);
  const known = new Set(ALL_VARIABLES.map(({ name }) => name));
  expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
  expect(Object.keys(volumes)).toEqual(['database']);
});

test('example for PostgreSQL: the proxy knows the API servers and skips those that drain', () => {
  const caddy = textOf('Caddyfile');
  expect(caddy).toContain('reverse_proxy api-1:8123 api-2:8123');
  expect(caddy).toMatch(/^\s*health_uri \/ok$/m);
  expect(caddy).toMatch(/^\s*flush_interval -1$/m);
});

test('example for PostgreSQL: the project has the package versions that this repository is tested with', () => {
  const { devDependencies, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const own = JSON.parse(textOf('package.json')).dependencies;
  expect(Object.keys(own)).toHaveLength(3);
  expect({ ...dependencies, ...devDependencies }).toMatchObject(own);
});

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { maskDatabaseUrl } from '../../src/node.ts';
import { naming } from '../support/naming.ts';
import { agentServer } from '../support/program.ts';
import { project } from '../support/project.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const UNRULY = `
export const graph = {
  async *stream(input) {
    setTimeout(() => { throw new Error('thrown from a timer'); });
    Promise.reject(new Error('rejected and left alone'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    yield ['values', input];
  },
  async getState(config) { return { values: {}, next: [], tasks: [], config, metadata: {} }; },
};`;

test('start logs one line with the address, the graphs and the authentication of the server', async () => {
  await using folder = await project({
    'agent.config.yaml':
      'graphs: { good: "./good.mjs:graph", broken: "./broken.mjs:graph" }\nstudio: { path: /console }',
    'good.mjs': UNRULY,
    'broken.mjs': 'export const nothing = 1;',
  });
  await using server = await startServer({
    config: folder.path('agent.config.yaml'),
    api_keys: ['sk-1', 'sk-2'],
  });

  const ready = server.log.filter(({ message }) => message === 'ready');

  expect(ready).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: 'info',
      message: 'ready',
      url: server.url,
      studio: `${server.url}/console`,
      docs: `${server.url}/docs`,
      graphs: 'good',
      failed_graphs: 'broken',
      storage: expect.stringMatching(/^sqlite:\/.*server\.db$/),
      auth: 'X-Api-Key, 2 keys',
    },
  ]);
  expect(JSON.stringify(server.log) + server.errors).not.toContain('sk-1');
});

test('an error that user code throws outside its node is logged with the run, and the server keeps running', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { a: "./a.mjs:graph" }',
    'a.mjs': UNRULY,
  });
  await using server = await startServer({ config: folder.path('agent.config.yaml') });
  const thrown = server.untilLog('uncaught exception in a node; its run is not affected');
  const rejected = server.untilLog('unhandled rejection in a node; its run is not affected');

  await server.client.runs.wait(null, 'a', { input: {} });

  expect((await thrown)['error']).toMatch(/^Error: thrown from a timer/);
  expect((await rejected)['error']).toMatch(/^Error: rejected and left alone/);
  expect((await thrown)['run_id']).toBe((await rejected)['run_id']);
  expect((await fetch(`${server.url}/ok`)).status).toBe(200);
});

test.each([
  ['uncaught exception', 'throw new Error("own")'],
  ['unhandled rejection', 'Promise.reject(new Error("own"))'],
])(
  'an %s in a server with graph hosts is logged and ends the server with exit code 1',
  async (what, failing) => {
    await using folder = await project({
      'agent.config.yaml': 'graphs: { a: "./a.mjs:graph" }',
      'a.mjs': UNRULY,
      'preload.mjs': `process.on('SIGUSR2', () => setTimeout(() => { ${failing}; }));`,
    });
    await using server = await startServer({
      config: folder.path('agent.config.yaml'),
      env: { AGENT_SERVER_HOSTS: '1', NODE_OPTIONS: `--import=${folder.path('preload.mjs')}` },
    });
    const logged = server.untilLog(`${what} in the server, which stops`);
    const code = server.kill('SIGUSR2');
    expect((await logged)['error']).toMatch(/^Error: own/);
    expect(await code).toBe(1);
    expect(server.log.map(({ message }) => message)).toContain('stopped');
  },
);

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s ends the server with exit code 0', async (signal) => {
  await using server = await startServer();
  const stopped = server.untilLog('stopped');

  expect(await server.kill(signal)).toBe(0);
  await stopped;
});

test('a second signal ends a stopping server at once', async () => {
  await using server = await startServer();
  const thread = await server.client.threads.create();
  await server.client.runs.create(thread.thread_id, 'sleeper', { input: { ms: 60_000 } });
  const stopping = server.untilLog('stopping');

  const ended = server.kill('SIGTERM');
  await stopping;

  expect(await server.kill('SIGINT')).toBe(1);
  await ended;
});

test('SIGUSR1 opens no debugger in the server', async () => {
  await using server = await startServer();
  process.kill(server.pid, 'SIGUSR1');
  for (let i = 0; i < 3; i++) expect((await fetch(`${server.url}/ok`)).status).toBe(200);
  expect(await server.kill('SIGTERM')).toBe(0);
  expect(server.errors).not.toContain('Debugger');
});

test('a stopping server finishes the runs that execute, and keeps new ones for its next start', async () => {
  await using server = await startServer();
  const { client, url } = server;
  const thread = await client.threads.create();
  const waiting = client.runs.wait(thread.thread_id, 'sleeper', { input: { ms: 10_000 } });
  const other = await client.threads.create();
  const cron = await client.crons.create('echo', { schedule: '0 0 1 1 *', input: {} });
  await until('it executes', async () => (await client.threads.get(thread.thread_id)).status === 'busy');
  const stopping = server.untilLog('stopping');
  const ended = server.kill('SIGTERM');
  await stopping;

  const run = { assistant_id: 'echo', input: {} };
  const post = (path: string, body: unknown) =>
    fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
  for (const [path, body] of [
    ['/runs', run],
    ['/runs/batch', [run]],
    [`/threads/${other.thread_id}/runs`, run],
    [`/runs/crons/${cron.cron_id}/trigger`, {}],
  ] as const) {
    expect([path, (await post(path, body)).status]).toEqual([path, 200]);
  }
  expect(await waiting).toBeDefined();
  expect(await ended).toBe(0);

  await server.restart();
  const [kept] = await client.runs.list(other.thread_id);
  await client.runs.join(other.thread_id, kept?.run_id as string);
  expect(await client.runs.list(other.thread_id)).toMatchObject([{ status: 'success' }]);
});

test('a port in use is reported in one line with exit code 1', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { a: "./a.mjs:graph" }',
    'a.mjs': UNRULY,
  });
  await using other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;

  for (const command of ['start', 'dev']) {
    const { code, stderr } = await agentServer([command, '--port', String(port)], { cwd: folder.root });

    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: naming(`agent-server: port ${port} of 127.0.0.1 is in use: `, '--port'),
    });
  }
});

test('a server without keys refuses a public address with exit code 2', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { a: "./a.mjs:graph" }',
    'a.mjs': UNRULY,
  });

  const { code, stderr } = await agentServer(['start', '--host', '0.0.0.0'], { cwd: folder.root });

  expect(code).toBe(2);
  expect(stderr).toMatch(/^agent-server: --host: server\.host: .* Set AGENT_SERVER_API_KEYS .*\n$/);
});

test('start prints the URL of the database without its secrets', () => {
  expect(maskDatabaseUrl('postgres://me:p/w@rd@db:5432/agents?password=x')).toBe('postgres://db:5432/agents');
  expect(maskDatabaseUrl('postgres://me@one:1,two:2/agents')).toBe('postgres://one:1,two:2/agents');
  expect(maskDatabaseUrl('sqlite:/srv/a@b.db')).toBe('sqlite:/srv/a@b.db');
});

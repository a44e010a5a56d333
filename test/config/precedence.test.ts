import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { load } from '../support/config.ts';
import { project } from '../support/project.ts';

const GRAPHS = 'graphs: { echo: "./echo.ts:graph" }\n';

test('a configuration with graphs only gets every default', async () => {
  const { config, warnings } = await load(GRAPHS);

  expect(config.graphs).toEqual([
    { graph_id: 'echo', path: './echo.ts', export: 'graph', description: null },
  ]);
  expect(config.server).toEqual({
    max_header_bytes: 16 * 1024,
    rate_limit: {},
    trust_proxy: [],
    role: 'all',
    host: '127.0.0.1',
    port: 8123,
    api_keys: [],
    allowed_hosts: [],
    body_limit: 4 * 1024 ** 2,
    body_budget: 64 * 1024 ** 2,
    send_budget: 256 * 1024 ** 2,
    max_body_values: 50_000,
  });
  expect(config.storage).toEqual({
    url: `sqlite:${join(config.root, '.agent-server/server.db')}`,
    synchronous: 'full',
    max_connections: 20,
    wait_seconds: 600,
    migrations: 'apply',
    notifications: 'notify',
  });
  expect(config.runs).toMatchObject({ concurrency: 'auto', max_attempts: 3, timeout_seconds: 86_400 });
  expect(config.http.cors.allow_origins).toBeUndefined();
  expect(warnings).toEqual([]);
});

test('a flag wins over the environment, the environment over the file, the file over the default', async () => {
  const file = `${GRAPHS}server: { port: 1001 }`;
  const environment = { PORT: '1002' };

  expect((await load(GRAPHS)).config.server.port).toBe(8123);
  expect((await load(file)).config.server.port).toBe(1001);
  expect((await load(file, { environment })).config.server.port).toBe(1002);
  expect((await load(file, { environment, flags: { 'server.port': '1003' } })).config.server.port).toBe(1003);
});

test('a missing flag and an empty variable do not override the file', async () => {
  const { config } = await load(`${GRAPHS}server: { port: 1001 }`, {
    environment: { PORT: '' },
    flags: { 'server.port': undefined },
  });

  expect(config.server.port).toBe(1001);
});

test('if two variables set one key, the more specific one wins', async () => {
  const { config } = await load(GRAPHS, {
    environment: {
      PORT: '1',
      LANGGRAPH_SERVER_PORT: '2',
      POSTGRES_URI: 'postgres://a/1',
      DATABASE_URI: 'postgres://a/2',
    },
  });

  expect(config.server.port).toBe(2);
  expect(config.storage.url).toBe('postgres://a/2');
});

test('a JSON variable replaces its block and a variable inside the block still wins', async () => {
  const { config } = await load(`${GRAPHS}http: { disable_webhooks: true, cors: { max_age: 5 } }`, {
    environment: {
      LANGGRAPH_HTTP: '{"disable_store":true,"cors":{"max_age":7}}',
      CORS_ALLOW_ORIGINS: 'http://a, http://b',
    },
  });

  expect(config.http).toMatchObject({ disable_store: true, disable_webhooks: false });
  expect(config.http.cors).toMatchObject({ max_age: 7, allow_origins: ['http://a', 'http://b'] });
});

test('--config names a file, and its folder is the root of its paths', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { other: "./x.ts:graph" }',
    'app/my.yaml': GRAPHS,
  });

  const { config } = await loadConfig({ cwd: folder.root, file: 'app/my.yaml', environment: {} });

  expect(config.graphs[0]?.graph_id).toBe('echo');
  expect(config.root).toBe(folder.path('app'));
  expect(config.storage.url).toBe(`sqlite:${folder.path('app/.agent-server/server.db')}`);
});

test('agent.config.yaml is preferred to langgraph.json', async () => {
  await using folder = await project({ 'langgraph.json': '{"graphs":{"old":"./a.ts:graph"}}' });
  const idOf = async () =>
    (await loadConfig({ cwd: folder.root, environment: {} })).config.graphs[0]?.graph_id;

  expect(await idOf()).toBe('old');
  await folder.write({ 'agent.config.yaml': GRAPHS });
  expect(await idOf()).toBe('echo');
});

test('graphs can be configured by the environment alone', async () => {
  await using folder = await project({});

  const { config } = await loadConfig({
    cwd: folder.root,
    environment: { LANGSERVE_GRAPHS: '{"echo":{"path":"./echo.ts:graph","description":"Says it again."}}' },
  });

  expect(config.graphs[0]).toMatchObject({ graph_id: 'echo', description: 'Says it again.' });
  expect(config.file).toBeUndefined();
});

test('the configuration is deeply frozen', async () => {
  const { config } = await load(GRAPHS);

  expect(Object.isFrozen(config.http.cors.allow_methods)).toBe(true);
  expect(Object.isFrozen(config.graphs[0])).toBe(true);
});

test('sizes, log levels and flags accept common spellings', async () => {
  const { config } = await load(`${GRAPHS}server: { body_limit: 2mb }\nhttp: { disable_webhooks: "yes" }`, {
    environment: { LOG_LEVEL: 'WARNING', LOG_JSON: 'true' },
  });

  expect(config.server.body_limit).toBe(2_097_152);
  expect(config.http).toMatchObject({ disable_webhooks: true });
  expect(config.log).toEqual({ level: 'warn', json: true });
});

test('a relative SQLite path is resolved against the data folder, and other URLs are unchanged', async () => {
  const urlOf = async (url: string) =>
    (await load(`${GRAPHS}storage: { url: "${url}" }`, { environment: { AGENT_SERVER_DATA_DIR: '/data' } }))
      .config.storage.url;

  expect(await urlOf('sqlite:.agent-server/server.db')).toBe('sqlite:/data/.agent-server/server.db');
  expect(await urlOf('sqlite:/srv/server.db')).toBe('sqlite:/srv/server.db');
  expect(await urlOf('sqlite::memory:')).toBe('sqlite::memory:');
  expect(await urlOf('postgres://me@db/agents')).toBe('postgres://me@db/agents');
});

test('threads are kept unless the configuration or the environment sets a TTL', async () => {
  expect((await load(GRAPHS)).config.checkpointer.ttl).toEqual({
    strategy: 'delete',
    sweep_interval_minutes: 5,
    sweep_limit: 10_000,
  });
  const environment = { LANGGRAPH_CHECKPOINTER: '{"ttl":{"strategy":"keep_latest","default_ttl":0.5}}' };
  expect((await load(GRAPHS, { environment })).config.checkpointer.ttl).toMatchObject({
    strategy: 'keep_latest',
    default_ttl: 0.5,
  });
});

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { raw } from '../../src/db/sql.ts';
import type { ServerInfo } from '../../src/schemas/system.ts';
import { CADDY, startCaddy } from '../support/caddy.ts';
import { httpClient } from '../support/http-client.ts';
import { PGBOUNCER, startPgBouncer } from '../support/pgbouncer.ts';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/postgres-schema.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { ROOT } from './blocks.ts';

type Environment = Readonly<Record<string, string>>;

const FOLDER = join(ROOT, 'examples/postgres-cluster');
const CONFIG = join(FOLDER, 'agent.config.yaml');
const SECRETS: Environment = { AGENT_SERVER_API_KEYS: 'local-key', POSTGRES_PASSWORD: 'c0ffee' };
const SERVERS = { 'api-1': 'api', 'api-2': 'api', 'worker-1': 'worker', 'worker-2': 'worker' } as const;

/** Environments of the containers, as Compose makes them with the `.env` of the README. */
const environments = ((): Readonly<Record<string, Environment>> => {
  const text = readFileSync(join(FOLDER, 'compose.yaml'), 'utf8');
  const filled = text.replace(/\$\{(\w+):\?\}/g, (_, name: string) => SECRETS[name] ?? `no ${name}`);
  const { services } = parse(filled, { merge: true });
  const entries = Object.entries<{ environment?: Environment }>(services);
  return Object.fromEntries(entries.map(([name, { environment = {} }]) => [name, environment]));
})();

/** What the image sets. */
const imageEnvironment = ((): Environment => {
  const line = /^ENV (.*)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))?.[1] ?? '';
  return Object.fromEntries(line.split(' ').map((pair) => pair.split('=') as [string, string]));
})();

test.each(Object.entries(SERVERS))(
  'example for PostgreSQL: the environment of server %s is a valid configuration',
  async (name, role) => {
    const environment = { ...imageEnvironment, ...environments[name] };
    const { config, warnings } = await loadConfig({ cwd: ROOT, file: CONFIG, environment });
    expect(warnings).toEqual([]);
    expect(config.server).toMatchObject({ role, host: '0.0.0.0', port: 8123, api_keys: ['local-key'] });
    expect(config.storage).toMatchObject({
      url: 'postgres://agents:c0ffee@pgbouncer:5432/agents',
      listen_url: 'postgres://agents:c0ffee@database:5432/agents',
    });
    const caddy = readFileSync(join(FOLDER, 'Caddyfile'), 'utf8');
    expect(caddy.includes(`${name}:${config.server.port}`)).toBe(role === 'api');
  },
);

test.runIf(TEST_POSTGRES_URI && PGBOUNCER)(
  'example for PostgreSQL: PgBouncer accepts its settings, and a server executes runs through it, with a direct connection for notifications',
  async () => {
    const { POSTGRES_USER: user = '', POSTGRES_PASSWORD: password = '' } = environments['database'] ?? {};
    const name = `agents_${randomUUID().replaceAll('-', '')}`;
    const direct = new URL(TEST_POSTGRES_URI as string);
    await using database = openPostgres(direct.href);
    await database.run(raw(`create role ${name} login password '${password}'`));
    await database.run(raw(`create database ${name} owner ${name}`));
    await using cleanUp = new AsyncDisposableStack();
    cleanUp.defer(async () => {
      await database.run(raw(`drop database ${name} with (force)`));
      await database.run(raw(`drop role ${name}`));
    });
    const settings = Object.entries(environments['pgbouncer'] ?? {}).filter(
      ([key]) => !key.startsWith('DB_'),
    );
    await using bouncer = await startPgBouncer(direct.href, {
      settings: Object.fromEntries(settings.map(([key, value]) => [key.toLowerCase(), value])),
      user: { name, password },
    });
    expect(environments['pgbouncer']).toMatchObject({ DB_USER: user, DB_PASSWORD: password });
    /** Another address of what the container connects to. */
    const moved = (url = '', to: string) => {
      expect(new URL(url)).toMatchObject({ username: user, password, pathname: `/${user}` });
      return Object.assign(new URL(to), { username: name, password, pathname: `/${name}` }).href;
    };
    const { DATABASE_URI, AGENT_SERVER_DATABASE_LISTEN_URL, ...env } = environments['api-1'] ?? {};
    await using server = await startServer({
      config: CONFIG,
      env: {
        ...env,
        AGENT_SERVER_ROLE: 'all',
        DATABASE_URI: moved(DATABASE_URI, bouncer.urlOf(name)),
        AGENT_SERVER_DATABASE_LISTEN_URL: moved(AGENT_SERVER_DATABASE_LISTEN_URL, direct.href),
      },
    });
    using http = httpClient(server.url);
    const headers = { 'x-api-key': 'local-key' };
    const body = { assistant_id: 'steps', input: { steps: 2 } };
    expect(await http.send('POST', '/runs/wait', { body, headers })).toMatchObject({ body: { done: 2 } });
    const info = (await http.send('GET', '/info', { headers })).body as ServerInfo;
    expect(info.server.version).toMatch(/^\d/);
    expect(server.log.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  },
);

test.runIf(TEST_POSTGRES_URI && CADDY)(
  'example for PostgreSQL: Caddy balances requests, streams frames without buffering, and uses the other server while one stops',
  async () => {
    await using database = await postgresSchema(TEST_POSTGRES_URI as string);
    const { DATABASE_URI: _, AGENT_SERVER_DATABASE_LISTEN_URL: __, ...env } = environments['api-1'] ?? {};
    const start = () =>
      startServer({
        config: CONFIG,
        env: { ...env, AGENT_SERVER_ROLE: 'all', DATABASE_URI: database.url },
        one_process: 'it is one of two behind a proxy',
      });
    await using first = await start();
    await using second = await start();
    await using caddy = await startCaddy(readFileSync(join(FOLDER, 'Caddyfile'), 'utf8'), {
      'api-1:8123': new URL(first.url).host,
      'api-2:8123': new URL(second.url).host,
    });
    using http = httpClient(caddy.url);
    const client = new Client({ apiUrl: caddy.url, apiKey: 'local-key' });

    const { thread_id } = await client.threads.create();
    const statuses = [];
    for await (const { event } of client.runs.stream(thread_id, 'steps', {
      input: { steps: 20 },
      streamMode: 'updates',
      onDisconnect: 'cancel',
    })) {
      if (event !== 'updates') continue;
      statuses.push((await client.threads.get(thread_id)).status);
      if (statuses.length === 3) break;
    }
    expect(statuses).toEqual(['busy', 'busy', 'busy']);
    const answered = (server: TestServer) =>
      server.log.filter(({ message }) => message === `GET /threads/${thread_id} 200`).length;
    await until('both servers answered', () => answered(first) > 0 && answered(second) > 0);

    let isGone = false;
    const gone = first.kill('SIGTERM').finally(() => {
      isGone = true;
    });
    const answers = new Set<number>();
    const headers = { 'x-api-key': 'local-key' };
    while (!isGone) answers.add((await http.send('GET', `/threads/${thread_id}`, { headers })).status);
    expect(await gone).toBe(0);
    expect([...answers]).toEqual([200]);
    // Caddy 2.6 cannot send a body twice: until its health check has found the dead server, such a request may get 502.
    const body = { assistant_id: 'steps', input: { steps: 1 } };
    await until('the other server executes runs', async () => {
      const answer = await http.send('POST', '/runs/wait', { headers, body });
      expect([200, 502]).toContain(answer.status);
      return answer.status === 200;
    });
  },
);

import { resolve } from 'node:path';
import { describe } from 'vitest';
import { postgresSchema, TEST_POSTGRES_URI } from '../databases.ts';
import { receiver } from '../receiver.ts';
import { startServer, type TestServer } from '../server.ts';
import { elsewhere } from './elsewhere.ts';
import { onThreads } from './on-threads.ts';
import { comparable, type Talk, talkTo } from './talk.ts';

export const CONFIG = resolve(import.meta.dirname, '../../fixtures/encryption/agent.config.yaml');

/** A server whose graphs keep secrets, and the address of its database. */
export interface Keeper extends AsyncDisposable {
  readonly server: TestServer;
  readonly url: string;
}

/** `env` may be changed between two starts. */
type OpenKeeper = (env: Record<string, string>) => Promise<Keeper>;

/** The same tests with a server on each engine. */
export function describeEachKeeper(name: string, tests: (open: OpenKeeper) => void): void {
  describe(`${name} on SQLite`, () => tests(onSqlite));
  describe.runIf(TEST_POSTGRES_URI)(`${name} on PostgreSQL`, () => tests(onPostgres));
}

async function onSqlite(env: Record<string, string>): Promise<Keeper> {
  const server = await startServer({ config: CONFIG, env, storage: 'sqlite' });
  const url = `sqlite:${server.database}`;
  return { server, url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

async function onPostgres(env: Record<string, string>): Promise<Keeper> {
  const schema = await postgresSchema(TEST_POSTGRES_URI as string);
  const server = await startServer({
    config: CONFIG,
    env: Object.assign(env, { DATABASE_URI: schema.url }),
  });
  return {
    server,
    url: schema.url,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await schema[Symbol.asyncDispose]();
    },
  };
}

/** What a server answers when all features are tried, and every secret that it was told. */
export async function everyFeature({ url }: TestServer) {
  await using hook = await receiver();
  using talk = talkTo(url);
  const answers: Record<string, unknown> = {};
  for (const [name, feature] of Object.entries({ ...onThreads, ...elsewhere(hook) })) {
    answers[name] = comparable(await feature(talk));
  }
  return { answers, secrets: talk.secrets() };
}

/** All that a server remembers, as its clients see it. */
export async function remembered({ url }: TestServer): Promise<unknown[]> {
  using talk = talkTo(url);
  const oldest = { limit: 100, sort_by: 'created_at', sort_order: 'asc' };
  const threads = (await talk.post('/threads/search', oldest)).body;
  const each = threads.map(({ thread_id }: { thread_id: string }) => onThread(talk, thread_id));
  return [
    threads,
    ...(await Promise.all(each)),
    await talk.post('/assistants/search', oldest),
    await talk.post('/runs/crons/search', oldest),
    await talk.post('/store/items/search', { namespace_prefix: [], limit: 100 }),
    await talk.get('/webhooks/deliveries?limit=100'),
    await talk.post('/a2a/keeper', { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }),
  ];
}

async function onThread(talk: Talk, thread_id: string): Promise<unknown> {
  const runs = await talk.get(`/threads/${thread_id}/runs`);
  return [runs, await talk.post(`/threads/${thread_id}/history`, { limit: 100 })];
}

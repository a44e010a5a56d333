import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/databases.ts';
import { TEST_KEY } from '../support/encryption.ts';
import { elsewhere } from '../support/every-feature/elsewhere.ts';
import { onThreads } from '../support/every-feature/on-threads.ts';
import { comparable, secret, secretsIn, talkTo } from '../support/every-feature/talk.ts';
import { receiver } from '../support/receiver.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { storedText } from '../support/stored-text.ts';

const CONFIG = resolve(import.meta.dirname, '../fixtures/encryption/agent.config.yaml');

/** Told in a request that was refused, and replaced by another. */
const FORGOTTEN = [secret('refused input'), secret('cron input')];

/** What a server answers when all features are tried. */
async function everyFeature(server: TestServer) {
  await using hook = await receiver();
  using talk = talkTo(server.url);
  const answers: Record<string, unknown> = {};
  for (const [name, feature] of Object.entries({ ...onThreads, ...elsewhere(hook) })) {
    answers[name] = comparable(await feature(talk));
  }
  return { answers, secrets: talk.secrets() };
}

async function sqliteServer(env: Record<string, string>) {
  const server = await startServer({ config: CONFIG, env });
  return {
    server,
    url: `sqlite:${server.database}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function postgresServer(env: Record<string, string>) {
  const schema = await postgresSchema(TEST_POSTGRES_URI as string);
  const server = await startServer({ config: CONFIG, env: { ...env, DATABASE_URI: schema.url } });
  return {
    server,
    url: schema.url,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await schema[Symbol.asyncDispose]();
    },
  };
}

describe.each([
  { engine: 'SQLite', open: sqliteServer },
  ...(TEST_POSTGRES_URI ? [{ engine: 'PostgreSQL', open: postgresServer }] : []),
])('with encryption on $engine', ({ open }) => {
  test('a server answers as it does without, and keeps nothing that it was told in plain text', async () => {
    await using plain = await open({});
    await using sealed = await open({ LANGGRAPH_AES_KEY: TEST_KEY });

    const expected = await everyFeature(plain.server);
    const { answers } = await everyFeature(sealed.server);

    for (const [feature, answer] of Object.entries(answers)) {
      expect([feature, answer]).toEqual([feature, expected.answers[feature]]);
    }
    const kept = expected.secrets.filter((word) => !FORGOTTEN.includes(word));
    expect(secretsIn(await storedText(plain.url))).toEqual(expect.arrayContaining(kept));
    expect(secretsIn(await storedText(sealed.url))).toEqual([]);
  }, 60_000);
});

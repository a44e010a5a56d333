import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { principalOf } from '../../src/auth/actor.ts';
import { openApp } from '../support/app.ts';

const [FIRST, SECOND] = ['the-first-key', 'the-second-key'];
const digest = createHash('sha256').update(FIRST).digest('hex').slice(0, 16);
const KEY_ID = `config:${digest}`;

let server: Awaited<ReturnType<typeof openApp>>;
let callers: Record<string, string>[];

beforeAll(async () => {
  server = await openApp({
    graphs: ['chat'],
    http: { openai: { enabled: true } },
    environment: { AGENT_SERVER_API_KEYS: `${FIRST},${SECOND}` },
  });
  const tokenFor = async (grant: object) => {
    const { body } = await server.post('/auth/tokens', grant, { 'x-api-key': FIRST });
    return { authorization: `Bearer ${body.token}` };
  };
  const [assistant] = (await server.post('/assistants/search', {}, { 'x-api-key': FIRST })).body;
  const limit = { assistant_id: assistant.assistant_id };
  // Users whose names imitate other callers.
  const names = [
    KEY_ID,
    principalOf('key', KEY_ID),
    principalOf('token', KEY_ID, limit.assistant_id),
    'token',
  ];
  callers = [
    { 'x-api-key': FIRST },
    { 'x-api-key': SECOND },
    await tokenFor(limit),
    ...(await Promise.all(names.map((user) => tokenFor({ user })))),
  ];
});

afterAll(() => server[Symbol.asyncDispose]());

test('callers of every kind have conversations of their own under one name', async () => {
  for (const caller of callers) {
    const body = { model: 'chat', messages: [{ role: 'user', content: 'Hello' }] };
    const { status } = await server.post('/v1/chat/completions', body, { ...caller, 'x-thread-id': 'diary' });
    expect(status).toBe(200);
  }
  expect((await server.post('/threads/count', {}, { 'x-api-key': FIRST })).body).toBe(callers.length);
});

test('callers of every kind have idempotency keys of their own', async () => {
  const key = { 'idempotency-key': 'the-same' };
  const made = await Promise.all(callers.map((caller) => server.post('/threads', {}, { ...caller, ...key })));
  expect(made.map(({ status }) => status)).toEqual(callers.map(() => 200));
  expect(new Set(made.map(({ body }) => body.thread_id)).size).toBe(callers.length);
});

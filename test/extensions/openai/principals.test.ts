import { afterAll, expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';
import { callersOf, FIRST, SECOND } from '../../support/callers.ts';

const server = await openApp({
  graphs: ['chat'],
  http: { openai: { enabled: true } },
  environment: { AGENT_SERVER_API_KEYS: `${FIRST},${SECOND}` },
});
const callers = await callersOf(server);
afterAll(() => server[Symbol.asyncDispose]());

test('callers of every kind have conversations of their own under one name', async () => {
  for (const caller of callers) {
    const body = { model: 'chat', messages: [{ role: 'user', content: 'Hello' }] };
    const { status } = await server.post('/v1/chat/completions', body, { ...caller, 'x-thread-id': 'diary' });
    expect(status).toBe(200);
  }
  expect((await server.post('/threads/count', {}, { 'x-api-key': FIRST })).body).toBe(callers.length);
});

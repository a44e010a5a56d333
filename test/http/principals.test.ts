import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { callersOf, FIRST, SECOND } from '../support/callers.ts';

const environment = { AGENT_SERVER_API_KEYS: `${FIRST},${SECOND}` };
const server = await openApp({ graphs: ['chat'], environment });
const callers = await callersOf(server);
afterAll(() => server[Symbol.asyncDispose]());

test('callers of every kind have idempotency keys of their own', async () => {
  const key = { 'idempotency-key': 'the-same' };
  const made = await Promise.all(callers.map((caller) => server.post('/threads', {}, { ...caller, ...key })));
  expect(made.map(({ status }) => status)).toEqual(callers.map(() => 200));
  expect(new Set(made.map(({ body }) => body.thread_id)).size).toBe(callers.length);
});

test('tokens of one key for different threads have idempotency keys of their own', async () => {
  const operator = { 'x-api-key': FIRST };
  const key = { 'idempotency-key': 'one-for-each-thread' };
  const statuses: number[] = [];
  for (const _ of ['first', 'second']) {
    const { thread_id } = (await server.post('/threads', {}, operator)).body;
    const { token } = (await server.post('/auth/tokens', { thread_id }, operator)).body;
    const run = { assistant_id: 'chat', input: { messages: [] } };
    const caller = { authorization: `Bearer ${token}`, ...key };
    statuses.push((await server.post(`/threads/${thread_id}/runs`, run, caller)).status);
  }
  expect(statuses).toEqual([200, 200]);
});

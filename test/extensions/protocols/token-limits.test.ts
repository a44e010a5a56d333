import { afterAll, expect, test } from 'vitest';
import { message } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';

const OPERATOR = { 'x-api-key': 'operator' };
const http = await openApp({
  graphs: ['chat'],
  http: { openai: { enabled: true } },
  environment: { AGENT_SERVER_API_KEYS: 'operator' },
});
afterAll(() => http[Symbol.asyncDispose]());

const make = async (path: string, body: object) => (await http.post(path, body, OPERATOR)).body;

async function token(grant: object) {
  return { authorization: `Bearer ${(await make('/auth/tokens', grant)).token}` };
}

test('a token for a thread reads the agent card of no assistant but that of its thread', async () => {
  const { assistant_id: used } = await make('/assistants', { graph_id: 'chat' });
  const { assistant_id: other } = await make('/assistants', { graph_id: 'chat' });
  const { thread_id } = await make('/threads', {});
  await make(`/threads/${thread_id}/runs/wait`, { assistant_id: used, input: { messages: 'hi' } });
  const headers = await token({ thread_id });
  const read = async (id: string) =>
    (await http.get(`/.well-known/agent-card.json?assistant_id=${id}`, headers)).status;
  expect([await read('chat'), await read(used), await read(other)]).toEqual([200, 200, 400]);
});

const metadata = { owner: 'ann', note: 'kept' };
const params = { message: { ...message('hi'), metadata }, metadata };

test.each<[door: string, path: string, body: object, headers?: Record<string, string>]>([
  [
    'a message of A2A',
    '/a2a/chat',
    { jsonrpc: '2.0', id: 1, method: 'SendMessage', params },
    { 'a2a-version': '1.0' },
  ],
  [
    'a chat completion',
    '/v1/chat/completions',
    { model: 'chat', messages: [{ role: 'user', content: 'hi' }], metadata },
  ],
])('a token without a user never becomes the owner of a row by %s', async (_door, path, body, more = {}) => {
  const headers = { ...(await token({ assistant_id: 'chat' })), ...more };
  const answer = await http.post(path, body, headers);
  expect(answer.status).toBe(200);
  expect((await http.post('/threads/search', {}, await token({ user: 'ann' }))).body).toEqual([]);
  expect(await make('/threads/search', { metadata: { owner: 'ann' } })).toEqual([]);
});

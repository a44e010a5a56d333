import { Client } from '@langchain/langgraph-sdk';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { keyFile } from '../support/keys.ts';
import { refusal } from '../support/naming.ts';
import { until } from '../support/until.ts';

const OPERATOR = { 'x-api-key': 'operator' };
const open = () =>
  openApp({ graphs: ['echo', 'counter'], environment: { AGENT_SERVER_API_KEYS: 'operator' } });

type Server = Awaited<ReturnType<typeof open>>;

async function token(server: Server, grant: object, headers: Record<string, string> = OPERATOR) {
  const made = await server.post('/auth/tokens', grant, headers);
  expect(made.status).toBe(200);
  return { authorization: `Bearer ${made.body.token}` };
}

test("a user of tokens sees only rows created with that user's tokens", async () => {
  await using server = await open();
  const jane = await token(server, { user: 'jane' });
  const john = await token(server, { user: 'john' });
  const { thread_id } = (await server.post('/threads', { metadata: { owner: 'john' } }, jane)).body;
  expect((await server.get(`/threads/${thread_id}`, await token(server, { user: 'jane' }))).status).toBe(200);
  expect((await server.get(`/threads/${thread_id}`, john)).status).toBe(404);
  const run = await server.post(`/threads/${thread_id}/runs`, { assistant_id: 'echo', input: {} }, jane);
  expect(run.body.kwargs.config.configurable).toMatchObject({
    user_id: 'jane',
    langgraph_auth_user_id: 'jane',
  });
  const item = { namespace: ['jane', 'notes'], key: 'a', value: {} };
  expect((await server.send('PUT', '/store/items', item, jane)).status).toBe(204);
  expect((await server.send('PUT', '/store/items', item, john)).status).toBe(403);
  expect((await server.post('/store/items/search', {}, john)).body).toEqual({ items: [] });
});

test('a token for an assistant works with that assistant and the threads that it runs on', async () => {
  await using server = await open();
  const headers = await token(server, { assistant_id: 'echo' });
  const { thread_id } = (await server.post('/threads', {}, headers)).body;
  const other = (await server.post('/threads', {}, OPERATOR)).body.thread_id;
  const start = (id: string, assistant_id: string) =>
    server.post(`/threads/${id}/runs/wait`, { assistant_id, input: {} }, headers);
  expect((await start(thread_id, 'echo')).status).toBe(200);
  expect((await start(thread_id, 'counter')).status).toBe(403);
  expect((await start(other, 'echo')).status).toBe(404);
  expect((await server.post('/runs/wait', { assistant_id: 'counter', input: {} }, headers)).status).toBe(403);
  expect((await server.post('/threads/count', {}, headers)).body).toBe(1);
  const found = await server.post('/assistants/search', {}, headers);
  expect(found.body.map(({ graph_id }: { graph_id: string }) => graph_id)).toEqual(['echo']);
  expect((await server.post('/store/items/search', {}, headers)).status).toBe(403);
});

test('a token for a thread works only on that thread, and a read token creates nothing', async () => {
  await using server = await open();
  const { thread_id } = (await server.post('/threads', {}, OPERATOR)).body;
  const other = (await server.post('/threads', {}, OPERATOR)).body.thread_id;
  const headers = await token(server, { thread_id });
  const run = { assistant_id: 'echo', input: {} };
  expect((await server.post(`/threads/${thread_id}/runs/wait`, run, headers)).status).toBe(200);
  expect((await server.post(`/threads/${other}/runs/wait`, run, headers)).status).toBe(403);
  expect((await server.get(`/threads/${other}`, headers)).status).toBe(404);
  expect((await server.post('/runs/wait', run, headers)).status).toBe(403);
  expect((await server.post('/threads', {}, headers)).status).toBe(403);
  const found = await server.post('/threads/search', {}, headers);
  expect(found.body.map((thread: { thread_id: string }) => thread.thread_id)).toEqual([thread_id]);

  const reader = await token(server, { thread_id, scope: 'read' });
  expect((await server.get(`/threads/${thread_id}/state`, reader)).status).toBe(200);
  expect((await server.post(`/threads/${thread_id}/runs/wait`, run, reader)).status).toBe(403);
});

test('a token for a user, an assistant and a thread sees only what all of them allow', async () => {
  await using server = await open();
  const create = async (grant: object) =>
    (await server.post('/threads', {}, await token(server, grant))).body.thread_id;
  const read = async (id: string, grant: object) =>
    (await server.get(`/threads/${id}`, await token(server, grant))).status;
  const jane = { user: 'jane', assistant_id: 'echo' };
  const hers = await create(jane);
  const his = await create({ ...jane, user: 'john' });
  expect(await read(hers, { ...jane, thread_id: hers })).toBe(200);
  expect(await read(his, jane)).toBe(404);
  expect(await read(his, { user: 'jane', thread_id: his })).toBe(404);
  expect(await read(hers, { ...jane, assistant_id: 'counter' })).toBe(404);
  expect(await read(hers, { assistant_id: 'counter', thread_id: hers })).toBe(404);
});

test.each([
  [{}, 422],
  [{ user: '' }, 422],
  [{ user: 'jane', scope: 'admin' }, 422],
  [{ user: 'jane', ttl_seconds: 100_000 }, 422],
  [{ assistant_id: 'nope' }, 422],
])('a token request with %j is refused', async (grant, status) => {
  await using server = await open();
  expect((await server.post('/auth/tokens', grant, OPERATOR)).status).toBe(status);
});

test('a token cannot create tokens, and a key cannot create one with more rights than its own', async () => {
  await using file = await keyFile();
  await using server = await openApp({ graphs: ['echo'], environment: file.environment });
  const reader = { 'x-api-key': (await file.make({ scope: 'read' })).key };
  expect((await server.post('/auth/tokens', { user: 'a' }, reader)).status).toBe(403);
  const headers = await token(server, { user: 'a', scope: 'read' }, reader);
  expect((await server.post('/auth/tokens', { user: 'a', scope: 'read' }, headers)).status).toBe(403);
});

test('keys and their tokens can be added and revoked while the server runs', async () => {
  await using file = await keyFile();
  await using server = await openApp({ graphs: ['echo'], environment: file.environment });
  const { key, key_id } = await file.make({ scope: 'run' });
  const headers = { 'x-api-key': key };
  expect((await server.post('/threads', {}, headers)).status).toBe(200);
  const page = await token(server, { user: 'jane' }, headers);
  expect((await server.post('/threads/count', {}, page)).body).toBe(0);

  await file.revoke(key_id);
  await until(
    'the key is refused',
    async () => (await server.post('/threads/count', {}, headers)).status === 401,
  );
  expect(await server.post('/threads/count', {}, headers)).toMatchObject(refusal(401, 'revoked'));
  await until(
    'its token is refused',
    async () => (await server.post('/threads/count', {}, page)).status === 401,
  );
});

test('a token can be sent in the query where headers cannot be set', async () => {
  await using server = await open();
  const { thread_id } = (await server.post('/threads', {}, OPERATOR)).body;
  const { token } = (await server.post('/auth/tokens', { thread_id }, OPERATOR)).body;
  expect((await server.get(`/threads/${thread_id}?access_token=${token}`)).status).toBe(200);
  expect((await server.post(`/threads/search?access_token=${token}`, {})).status).toBe(401);
  expect(JSON.stringify(server.log)).not.toContain(token);
});

test('a WebSocket opens with a token in its URL, for its thread only', async () => {
  await using server = await open();
  const { url } = await server.app.listen();
  const { thread_id } = (await server.post('/threads', {}, OPERATOR)).body;
  const { token } = (await server.post('/auth/tokens', { thread_id }, OPERATOR)).body;
  const other = (await server.post('/threads', {}, OPERATOR)).body.thread_id;
  const address = (id: string, query: string) =>
    `${url.replace('http', 'ws')}/threads/${id}/stream/events${query}`;
  const closeCode = (id: string, query: string) =>
    new Promise<number>((resolve) => {
      new WebSocket(address(id, query)).addEventListener('close', ({ code }) => resolve(code));
    });
  expect(await closeCode(thread_id, '')).toBe(4401);
  expect(await closeCode(other, `?access_token=${token}`)).toBe(4404);

  const socket = new WebSocket(address(thread_id, `?access_token=${token}`));
  const answer = await new Promise((resolve) => {
    socket.addEventListener('message', ({ data }) => resolve(JSON.parse(String(data))));
    socket.addEventListener('open', () => socket.send('{"id":1,"method":"state.get","params":{}}'));
  });
  expect(answer).toMatchObject({ type: 'success', id: 1 });
  socket.close();
});

test('the official client accepts a token in place of a key', async () => {
  await using server = await open();
  const { url: apiUrl } = await server.app.listen();
  const { token } = (await server.post('/auth/tokens', { user: 'jane' }, OPERATOR)).body;
  const client = new Client({ apiUrl, apiKey: token });
  const thread = await client.threads.create();
  const values = await client.runs.wait(thread.thread_id, 'echo', { input: {} });
  expect(values).toBeDefined();
  const strangers = new Client({ apiUrl, apiKey: 'nope' });
  await expect(strangers.threads.get(thread.thread_id)).rejects.toThrow('401');
});

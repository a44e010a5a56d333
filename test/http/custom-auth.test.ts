import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const folder = resolve(import.meta.dirname, '../fixtures/auth');
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const ALICE = bearer('alice-token');
const BOB = bearer('bob-token');

const open = (environment = {}) => openApp({ graphs: ['echo', 'counter'], folder, environment });

test('authenticate decides which requests are accepted, and its refusal is the response', async () => {
  await using server = await open();
  expect((await server.post('/threads/count', {}, ALICE)).body).toBe(0);
  for (const headers of [{}, bearer('wrong'), { 'x-api-key': 'alice-token' }]) {
    const refused = await server.post('/threads/count', {}, headers as Record<string, string>);
    expect([refused.status, refused.body]).toEqual([401, { detail: 'Could not validate credentials' }]);
    expect(refused.headers['www-authenticate']).toBe('Bearer realm="test"');
  }
});

test('an error of authenticate is a 500 without details, and is logged', async () => {
  await using server = await open();
  const answer = await server.post('/threads/count', {}, bearer('broken-token'));
  expect([answer.status, answer.body]).toEqual([500, { detail: 'Internal Server Error' }]);
  expect(JSON.stringify(server.log.at(-2)?.fields['path'])).toContain('/threads/count');
});

test('only health, documentation and /info need no authentication', async () => {
  await using server = await open();
  for (const url of ['/', '/ok', '/docs', '/openapi.json', '/info', '/metrics']) {
    expect([url, (await server.get(url)).status]).toEqual([url, 200]);
  }
  for (const url of ['/threads/x', '/nope', '/mcp', '/assistants/echo']) {
    expect([url, (await server.get(url)).status]).toEqual([url, 401]);
  }
});

test('the most specific auth handler decides', async () => {
  await using server = await open();
  const reader = bearer('reader-token');
  const made = await server.post('/threads', {}, reader);
  expect([made.status, made.body]).toEqual([418, { detail: 'Readers make no threads' }]);
  expect(made.headers['x-reason']).toBe('teapot');
  expect((await server.post('/threads/count', {}, reader)).body).toBe(0);
  await server.post('/threads', {}, ALICE);
  expect((await server.post('/threads/count', {}, reader)).body).toBe(1);
});

test('a user returned as a string has that identity and no permissions', async () => {
  await using server = await open();
  const answer = await server.post('/runs/wait', { assistant_id: 'echo', input: {} }, bearer('plain-token'));
  expect(answer.status).toBe(200);
});

test('an auth handler sets the owner of created rows, and other users do not find them', async () => {
  await using server = await open();
  const thread = await server.post('/threads', { metadata: { owner: 'bob' } }, ALICE);
  expect(thread.body.metadata).toEqual({ owner: 'alice' });
  const url = `/threads/${thread.body.thread_id}`;
  expect((await server.get(url, BOB)).status).toBe(404);
  expect((await server.patch(url, { metadata: { owner: 'bob' } }, ALICE)).body.metadata.owner).toBe('alice');
  expect((await server.post(`${url}/copy`, undefined, BOB)).status).toBe(409);
  expect((await server.post(`${url}/copy`, undefined, ALICE)).body.metadata.owner).toBe('alice');
});

test('a run gets its authenticated user, even if the client sends another one', async () => {
  await using server = await open();
  const thread = await server.post('/threads', {}, ALICE);
  const run = await server.post(
    `/threads/${thread.body.thread_id}/runs`,
    {
      assistant_id: 'echo',
      config: { configurable: { langgraph_auth_user: { identity: 'bob' }, user_id: 'bob', mine: 1 } },
    },
    ALICE,
  );
  const { configurable } = run.body.kwargs.config;
  expect(configurable).toMatchObject({
    mine: 1,
    user_id: 'alice',
    langgraph_auth_user: { identity: 'alice', team: 'red', display_name: 'alice', is_authenticated: true },
    langgraph_auth_user_id: 'alice',
    langgraph_auth_permissions: ['write'],
  });
});

test('joining a run of another user ends the stream as for a missing run', async () => {
  await using server = await open();
  const thread = await server.post('/threads', {}, ALICE);
  const url = `/threads/${thread.body.thread_id}`;
  const run = await server.post(`${url}/runs`, { assistant_id: 'echo', input: {} }, ALICE);
  const foreign = await server.get(`${url}/runs/${run.body.run_id}/stream`, BOB);
  const missing = await server.get(`${url}/runs/${thread.body.thread_id}/stream`, BOB);
  const own = await server.get(`${url}/runs/${thread.body.thread_id}/stream`, ALICE);
  const streams = [foreign, missing, own].map(({ status, text }) => [status, text]);
  const told = `event: error\r\ndata: {"error":"HTTPException","message":"404: Not Found"}\r\n\r\n`;
  for (const stream of streams) expect(stream).toEqual([200, expect.stringContaining(told)]);
});

test('an API key of the server is accepted alongside authenticate and sees every row', async () => {
  await using server = await open({ AGENT_SERVER_API_KEYS: 'operator' });
  await server.post('/threads', {}, ALICE);
  await server.post('/threads', {}, BOB);
  expect((await server.post('/threads/count', {}, { 'x-api-key': 'operator' })).body).toBe(2);
});

test('a client that claims to be Studio has no special rights unless configured', async () => {
  const studio = { 'x-auth-scheme': 'langsmith' };
  await using server = await open();
  expect((await server.post('/threads/count', {}, studio)).status).toBe(401);
  await using trusting = await open({
    LANGGRAPH_AUTH: '{"path":"./auth.ts:auth","disable_studio_auth":false}',
  });
  expect((await trusting.post('/threads/count', {}, studio)).body).toBe(0);
});

test('the OpenAPI document describes authentication as configured', async () => {
  const openapi = {
    securitySchemes: { OAuth: { type: 'http', scheme: 'bearer' } },
    paths: { '/threads': { post: { security: [{ OAuth: ['threads'] }] } } },
  };
  await using server = await open({ LANGGRAPH_AUTH: JSON.stringify({ path: './auth.ts:auth', openapi }) });
  const { body } = await server.get('/openapi.json');
  expect(body.security).toEqual([{ OAuth: [] }]);
  expect(body.components.securitySchemes.OAuth).toEqual({ type: 'http', scheme: 'bearer' });
  expect(body.paths['/threads'].post).toMatchObject({
    operationId: 'create_thread',
    security: [{ OAuth: ['threads'] }],
  });
});

test.each([
  ['./nope.ts:auth', 'there is no file'],
  ['./auth.ts:nope', "has no export 'nope'"],
  ['./auth.ts:asked', "it is not an Auth of '@langchain/langgraph-sdk/auth'"],
])('auth handlers at %s keep the server from starting', async (path, reason) => {
  const opening = open({ LANGGRAPH_AUTH: JSON.stringify({ path }) });
  await expect(opening).rejects.toThrow(reason);
});

test('TRACE is refused with 405 before it reaches authenticate', async () => {
  await using server = await open();
  const { url } = await server.app.listen();
  // `fetch` sends no TRACE.
  const sent = request(`${url}/threads`, { method: 'TRACE', headers: ALICE });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  expect(answer.statusCode).toBe(405);
});

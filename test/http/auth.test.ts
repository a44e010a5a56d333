import { expect, test } from 'vitest';
import type { Actor } from '../../src/auth/actor.ts';
import { openApp } from '../support/app.ts';
import { bareServer } from '../support/bare-server.ts';

const KEYS = { graphs: ['echo'], environment: { AGENT_SERVER_API_KEYS: 'first-key,second-key' } };

test.each([
  [{ 'x-api-key': 'first-key' }],
  [{ 'X-Api-Key': 'second-key' }],
  [{ authorization: 'Bearer second-key' }],
  [{ 'x-api-key': "somebody else's", authorization: 'bearer first-key' }],
])('a request with one of the keys is accepted: %j', async (headers) => {
  await using server = await openApp(KEYS);
  expect((await server.post('/threads/count', {}, headers as Record<string, string>)).status).toBe(200);
});

test.each([
  ['no key', {}, 'Missing X-Api-Key header'],
  ['a wrong key', { 'x-api-key': 'first-ke' }, 'Invalid API key'],
  ['an empty key', { 'x-api-key': '' }, 'Invalid API key'],
  ['both keys at once', { 'x-api-key': 'first-key, second-key' }, 'Invalid API key'],
  ['a wrong bearer', { authorization: 'Bearer first-ke' }, 'Invalid API key'],
  ['a name and a password', { authorization: 'Basic first-key' }, 'Missing X-Api-Key header'],
  ['what looks like a made key', { 'x-api-key': 'ask_nope' }, 'Invalid API key'],
  ['what looks like a token', { 'x-api-key': 'eyJhbGciOiJub25lIn0.e30.' }, 'Invalid API key'],
])('a request with %s is rejected', async (_what, headers, detail) => {
  await using server = await openApp(KEYS);
  const answer = await server.post('/threads/count', {}, headers as Record<string, string>);
  expect([answer.status, answer.body]).toEqual([401, { detail }]);
});

test('an API key in the query is not accepted', async () => {
  await using server = await openApp(KEYS);
  expect((await server.get('/threads/x?access_token=first-key')).status).toBe(401);
});

test('a server without keys accepts every request', async () => {
  await using server = await openApp({ graphs: ['echo'] });
  expect((await server.post('/threads/count', {})).status).toBe(200);
});

test('without a key, only health and documentation are open', async () => {
  await using server = await openApp(KEYS);
  const statusOf = async (url: string) => (await server.get(url)).status;
  for (const url of [
    '/ok',
    '/',
    '/docs',
    '/docs/',
    '/docs/json',
    '/docs/static/index.css',
    '/openapi.json',
  ]) {
    expect([url, await statusOf(url)]).toEqual([url, 200]);
  }
  for (const url of ['/info', '/metrics', '/threads/x', '/nope', '/docsx', '/runs/stream']) {
    expect([url, await statusOf(url)]).toEqual([url, 401]);
  }
});

test('a CORS preflight needs no key, and a page can read a 401', async () => {
  await using server = await openApp(KEYS);
  const origin = 'https://a.example';
  const headers = { origin, 'access-control-request-method': 'POST' };
  expect((await server.send('OPTIONS', '/threads/count', undefined, headers)).status).toBe(200);
  const refused = await server.post('/threads/count', {}, { origin });
  expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, '*']);
});

test('services get the actor and the request id', async () => {
  const actors: Actor[] = [];
  const count = async (actor: Actor) => actors.push(actor);
  await using http = await bareServer({ services: { threads: { count } } });
  const call = (headers: Record<string, string>) =>
    http.inject({ method: 'POST', url: '/threads/count', payload: {}, headers });
  await call({ 'x-request-id': 'mine' });
  const answer = await call({ 'x-request-id': 'not usable: \u00e9' });
  expect(actors[0]).toEqual({
    user: null,
    request_id: 'mine',
    scope: 'admin',
    rules: [],
    principal: '',
    headers: {},
  });
  expect(actors[1]?.request_id).toMatch(/^[0-9a-f-]{36}$/);
  expect(answer.headers['x-request-id']).toBe(actors[1]?.request_id);
});

import { expect, test } from 'vitest';
import type { Actor } from '../../src/auth/actor.ts';
import { bareServer } from '../support/bare-server.ts';

const KEYS = { api_keys: ['first-key', 'second-key'] };
const services = { threads: { count: async () => 0 } };

function count(headers: Record<string, string>) {
  return { method: 'POST', url: '/threads/count', payload: {}, headers } as const;
}

test('one of the keys opens', async () => {
  await using http = await bareServer({ services, options: KEYS });
  expect((await http.inject(count({ 'x-api-key': 'first-key' }))).statusCode).toBe(200);
  expect((await http.inject(count({ 'X-Api-Key': 'second-key' }))).statusCode).toBe(200);
});

test.each([
  ['no key', {}, 'Missing X-Api-Key header'],
  ['a wrong key', { 'x-api-key': 'first-ke' }, 'Invalid API key'],
  ['an empty key', { 'x-api-key': '' }, 'Invalid API key'],
  ['both keys at once', { 'x-api-key': 'first-key, second-key' }, 'Invalid API key'],
])('%s does not', async (_what, headers, detail) => {
  await using http = await bareServer({ services, options: KEYS });
  const answer = await http.inject(count(headers as Record<string, string>));
  expect([answer.statusCode, answer.json()]).toEqual([401, { detail }]);
});

test('without keys everybody is let in', async () => {
  await using http = await bareServer({ services });
  expect((await http.inject(count({}))).statusCode).toBe(200);
});

test('only health and documentation are open', async () => {
  await using http = await bareServer({ services, options: KEYS });
  const statusOf = async (url: string) => (await http.inject(url)).statusCode;
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

test('a preflight request needs no key, and a refusal can be read from a page', async () => {
  await using http = await bareServer({ services, options: KEYS });
  const headers = { origin: 'https://a.example', 'access-control-request-method': 'POST' };
  const preflight = await http.inject({ method: 'OPTIONS', url: '/threads/count', headers });
  expect(preflight.statusCode).toBe(200);
  const refused = await http.inject(count({ origin: 'https://a.example' }));
  expect([refused.statusCode, refused.headers['access-control-allow-origin']]).toEqual([401, '*']);
});

test('a service learns who acts and in which request', async () => {
  const actors: Actor[] = [];
  const count = async (actor: Actor) => actors.push(actor);
  await using http = await bareServer({ services: { threads: { count } } });
  const call = (headers: Record<string, string>) =>
    http.inject({ method: 'POST', url: '/threads/count', payload: {}, headers });
  await call({ 'x-request-id': 'mine' });
  const answer = await call({ 'x-request-id': 'not usable: \u00e9' });
  expect(actors[0]).toEqual({ user: null, request_id: 'mine', rules: [] });
  expect(actors[1]?.request_id).toMatch(/^[0-9a-f-]{36}$/);
  expect(answer.headers['x-request-id']).toBe(actors[1]?.request_id);
});

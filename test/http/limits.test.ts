import { connect } from 'node:net';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { bareServer } from '../support/bare-server.ts';

const KEYS = { graphs: ['echo'], environment: { AGENT_SERVER_API_KEYS: 'one,two' } };
const ONE = { 'x-api-key': 'one' };

async function statuses(send: () => Promise<{ status: number }>, times: number): Promise<number[]> {
  const seen: number[] = [];
  while (seen.length < times) seen.push((await send()).status);
  return seen;
}

test('a client address above its rate limit is rejected with Retry-After', async () => {
  await using server = await openApp({
    graphs: ['echo'],
    server: { rate_limit: { per_address_per_minute: 3 } },
  });
  const count = () => server.post('/threads/count', {});
  expect(await statuses(count, 4)).toEqual([200, 200, 200, 429]);
  const refused = await count();
  expect(refused.body).toEqual({ detail: expect.stringContaining('More than 3 requests per minute') });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
});

test('rejected keys count towards the rate limit, and health checks do not', async () => {
  await using server = await openApp({ ...KEYS, server: { rate_limit: { per_address_per_minute: 2 } } });
  const guess = () => server.post('/threads/count', {}, { 'x-api-key': 'guess' });
  expect(await statuses(guess, 3)).toEqual([401, 401, 429]);
  expect(await statuses(() => server.get('/ok'), 5)).toEqual([200, 200, 200, 200, 200]);
});

test('rejected keys at /metrics count towards the rate limit, and valid keys there do not', async () => {
  await using server = await openApp({
    ...KEYS,
    server: { rate_limit: { per_address_per_minute: 4, per_key_per_minute: 1 } },
  });
  const scrape = (key: string) => () => server.get('/metrics', { 'x-api-key': key });
  expect(await statuses(scrape('one'), 2)).toEqual([200, 200]);
  expect(await statuses(scrape('guess'), 3)).toEqual([401, 401, 429]);
  expect((await scrape('one')()).status).toBe(429);
});

test('scrapes do not count towards the rate limit if /metrics needs no key', async () => {
  const server = { rate_limit: { per_address_per_minute: 1, per_key_per_minute: 1 } };
  await using open = await openApp({ graphs: ['echo'], server });
  expect(await statuses(() => open.get('/metrics'), 3)).toEqual([200, 200, 200]);
  const folder = resolve(import.meta.dirname, '../fixtures/auth');
  await using amongUsers = await openApp({ graphs: ['echo'], folder, server });
  expect(await statuses(() => amongUsers.get('/metrics'), 3)).toEqual([200, 200, 200]);
});

test('each user has a separate rate limit', async () => {
  await using server = await openApp({
    graphs: ['echo'],
    folder: resolve(import.meta.dirname, '../fixtures/auth'),
    server: { rate_limit: { per_key_per_minute: 2 } },
  });
  const as = (name: string) => () =>
    server.post('/threads/count', {}, { authorization: `Bearer ${name}-token` });
  expect(await statuses(as('alice'), 3)).toEqual([200, 200, 429]);
  expect(await statuses(as('bob'), 2)).toEqual([200, 200]);
});

test('a request through the custom app counts once towards the rate limit', async () => {
  await using server = await openApp({
    ...KEYS,
    folder: resolve(import.meta.dirname, '../fixtures/own-app'),
    http: { app: './hono.ts:app' },
    server: { rate_limit: { per_address_per_minute: 5, per_key_per_minute: 2 } },
  });
  expect(await statuses(() => server.post('/threads/count', {}, ONE), 3)).toEqual([200, 200, 429]);
  expect(await statuses(() => server.get('/own/hello'), 3)).toEqual([200, 200, 429]);
});

test('one key of the configuration enables both rate limits', async () => {
  await using server = await openApp({ graphs: ['echo'], environment: { AGENT_SERVER_RATE_LIMIT: '2' } });
  expect(await statuses(() => server.post('/threads/count', {}), 3)).toEqual([200, 200, 429]);
});

test('request headers that are too large are 431', async () => {
  await using http = await bareServer({ options: { max_header_bytes: 1024 } });
  const answer = await fetch(`${await http.listen()}/ok`, { headers: { 'x-long': 'x'.repeat(2000) } });
  expect(answer.status).toBe(431);
});

test('connections beyond the limit are closed', async () => {
  await using http = await bareServer({ options: { max_connections: 1 } });
  const { port } = new URL(await http.listen());
  const first = connect(Number(port), '127.0.0.1');
  await new Promise((connected) => first.once('connect', connected));
  const second = connect(Number(port), '127.0.0.1');
  second.write('GET /ok HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  expect(await text(second).catch(() => '')).toBe('');
  first.end('GET /ok HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  expect(await text(first)).toMatch(/^HTTP\/1.1 200/);
});

test('responses restrict what browsers do with them', async () => {
  await using http = await bareServer();
  for (const url of ['/ok', '/nope', '/docs']) {
    const { headers } = await http.inject(url);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'SAMEORIGIN' });
    expect(headers).not.toHaveProperty('x-powered-by');
  }
  expect((await http.inject('/docs/')).headers['content-security-policy']).toMatch(/^default-src 'self'/);
});

import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { problemsOf } from '../support/config.ts';

const PROXY = '10.1.2.3';
const STRANGER = '203.0.113.7';
const FORWARDED = {
  host: '127.0.0.1:8123',
  'x-forwarded-for': '198.51.100.4',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'agents.example.com',
};
const KEY = { 'x-api-key': 'sesame' };

/** A server behind proxies, asked from any address. */
async function served(trust_proxy: string[], parts: Partial<Parameters<typeof openApp>[0]> = {}) {
  const app = await openApp({
    // Its schemas need no compiler.
    graphs: ['zod-state'],
    environment: { AGENT_SERVER_API_KEYS: 'sesame', AGENT_SERVER_TRUST_PROXY: trust_proxy.join(',') },
    ...parts,
  });
  return {
    log: app.log,
    get: (url: string, remoteAddress: string, headers: Record<string, string> = FORWARDED) =>
      app.app.server.inject({ url, remoteAddress, headers: { ...KEY, ...headers } }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** Where the server says that it is, in its links. */
async function addressSaid(server: Awaited<ReturnType<typeof served>>, from: string) {
  const { location } = (await server.get('/assistants/search/', from)).headers;
  return new URL(String(location)).origin;
}

const OUTSIDE = 'https://agents.example.com';
const ITSELF = 'http://127.0.0.1:8123';

test.each([
  ['no proxy is trusted', [], PROXY, ITSELF],
  ['the request comes from a trusted proxy', ['10.0.0.0/8'], PROXY, OUTSIDE],
  ['the request comes from a named network', ['uniquelocal'], PROXY, OUTSIDE],
  ['the request comes from another address', ['10.0.0.0/8', 'loopback'], STRANGER, ITSELF],
])('X-Forwarded headers are used for links only if trusted: %s', async (_when, trusted, from, origin) => {
  await using server = await served(trusted);
  expect(await addressSaid(server, from)).toBe(origin);
});

test('an invalid forwarded host is ignored', async () => {
  await using server = await served(['loopback']);
  for (const host of ['evil"><script>', 'a b', 'user@evil.example', 'evil.example/path', 'evil.example:x']) {
    const headers = { ...FORWARDED, 'x-forwarded-host': host };
    const redirected = await server.get('/assistants/search/', '127.0.0.1', headers);
    expect(redirected.headers['location']).toBe('/assistants/search');
  }
});

test('the log has the address of the client, not a forged one', async () => {
  await using server = await served(['10.0.0.0/8']);
  const headers = { ...FORWARDED, 'x-forwarded-for': '1.1.1.1, 198.51.100.4, 10.9.9.9' };
  await server.get('/info', PROXY, headers);
  await server.get('/info', STRANGER, headers);
  await server.get('/info', '127.0.0.1', headers);
  const addresses = server.log
    .filter(({ message }) => message.startsWith('GET /info'))
    .map(({ fields }) => fields['address']);
  expect(addresses).toEqual(['198.51.100.4', STRANGER, undefined]);
});

const ONE_A_MINUTE = { server: { rate_limit: { per_address_per_minute: 1 } } };
const client = (address: string) => ({ ...FORWARDED, 'x-forwarded-for': address });

test('clients behind a trusted proxy have separate rate limits', async () => {
  await using server = await served([], {
    ...ONE_A_MINUTE,
    server: { ...ONE_A_MINUTE.server, trust_proxy: ['10.0.0.0/8'] },
  });
  const ask = async (from: string, address: string) =>
    (await server.get('/info', from, client(address))).statusCode;
  expect([await ask(PROXY, '198.51.100.4'), await ask(PROXY, '198.51.100.5')]).toEqual([200, 200]);
  expect(await ask(PROXY, '1.1.1.1, 198.51.100.4')).toBe(429);
  // Who is no proxy has one share, whatever it writes.
  expect([await ask(STRANGER, '198.51.100.6'), await ask(STRANGER, '198.51.100.7')]).toEqual([200, 429]);
});

test('IPv6 addresses of one network share a rate limit', async () => {
  await using server = await served([], ONE_A_MINUTE);
  const ask = async (from: string) => (await server.get('/info', from)).statusCode;
  expect([await ask('2001:db8:1:2::1'), await ask('2001:db8:1:2:3::4')]).toEqual([200, 429]);
  expect([await ask('2001:db8:1:3::1'), await ask('203.0.113.1')]).toEqual([200, 200]);
  expect([await ask('203.0.113.2'), await ask('::ffff:203.0.113.2')]).toEqual([200, 429]);
});

test('without a trusted proxy, X-Forwarded-For does not affect the rate limit', async () => {
  await using server = await served([], ONE_A_MINUTE);
  const ask = async (address: string) => (await server.get('/info', PROXY, client(address))).statusCode;
  expect([await ask('198.51.100.4'), await ask('198.51.100.5')]).toEqual([200, 429]);
});

test('a server without keys checks the forwarded host name and that of the request', async () => {
  await using server = await served([], {
    environment: { AGENT_SERVER_TRUST_PROXY: 'loopback' },
    server: { allowed_hosts: ['agents.example.com'], trust_proxy: ['loopback'] },
  });
  const ask = async (host: string, forwarded: string) =>
    (await server.get('/info', '127.0.0.1', { host, 'x-forwarded-host': forwarded })).statusCode;
  expect(await ask('127.0.0.1:8123', 'agents.example.com')).toBe(200);
  expect(await ask('127.0.0.1:8123', 'evil.example')).toBe(403);
  expect(await ask('evil.example', 'agents.example.com')).toBe(403);
});

test('the custom app and the server behind it get the public URL of a request', async () => {
  await using server = await served([], {
    graphs: ['echo'],
    environment: {},
    folder: resolve(import.meta.dirname, '../fixtures/own-app'),
    http: { app: './hono.ts:app' },
    server: { trust_proxy: ['10.0.0.0/8'], allowed_hosts: ['agents.example.com'] },
  });
  expect(await addressSaid(server, PROXY)).toBe(OUTSIDE);
});

test('trusted_proxies accepts only addresses and networks', async () => {
  const problem = 'must be an address, a network such as 10.0.0.0/8, or loopback, linklocal or uniquelocal';
  expect(
    await problemsOf('graphs: { a: "./a.ts:a" }\nserver: { trust_proxy: [proxy.example, 10.0.0.0/8] }'),
  ).toEqual([`agent.config.yaml: server.trust_proxy.0: ${problem}`]);
});

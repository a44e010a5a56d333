import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const KEYS = { AGENT_SERVER_API_KEYS: 'sesame' };
const KEY = { 'x-api-key': 'sesame' };
const EVIL = 'https://evil.example';

/** How a page's request ends that needs no preflight, and who may read the answer. */
async function ask(server: Awaited<ReturnType<typeof openApp>>, origin: string, headers = {}) {
  const form = { origin, host: 'localhost:8123', 'content-type': 'text/plain', ...headers };
  const answer = await server.send('POST', '/threads', '{}', form);
  return [answer.status, answer.headers['access-control-allow-origin']];
}

describe('a server without keys', () => {
  test.each([
    'http://localhost:3000',
    'http://127.0.0.1:5173',
    'http://[::1]:80',
    'https://app.localhost',
    'http://localhost:8123',
    'https://smith.langchain.com',
    'https://eu.smith.langchain.com',
    'https://agents.example.com',
  ])('accepts requests from pages of %s', async (origin) => {
    await using server = await openApp({
      graphs: ['echo'],
      server: { allowed_hosts: ['agents.example.com'] },
    });
    expect(await ask(server, origin)).toEqual([200, '*']);
  });

  test.each([
    EVIL,
    'https://localhost.evil.example',
    'https://smith.langchain.com.evil.example',
    'https://evil-smith.langchain.com',
    'http://smith.langchain.com',
    'null',
    'nonsense',
  ])('refuses pages of %s, which create and read nothing', async (origin) => {
    await using server = await openApp({ graphs: ['echo'] });
    expect(await ask(server, origin)).toEqual([403, undefined]);
    expect((await server.post('/threads/count', {})).body).toBe(0);
    const preflight = { origin, 'access-control-request-private-network': 'true' };
    const { headers } = await server.send('OPTIONS', '/threads', undefined, preflight);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(headers).not.toHaveProperty('access-control-allow-private-network');
  });

  test('accepts pages of every origin if configured', async () => {
    await using server = await openApp({ graphs: ['echo'], environment: { CORS_ALLOW_ORIGINS: '*' } });
    expect(await ask(server, EVIL)).toEqual([200, '*']);
  });

  test('the log names each rejected origin once, with the setting that allows it', async () => {
    await using server = await openApp({ graphs: ['echo'] });
    for (const origin of [EVIL, EVIL, 'https://b.example']) await ask(server, origin);
    const told = server.log.filter(({ level }) => level === 'warn');
    expect(told.map(({ fields }) => fields['origin'])).toEqual([EVIL, 'https://b.example']);
    expect(told[0]?.message).toContain('http.cors.allow_origins');
  });
});

test('a server with keys accepts requests from pages of any origin', async () => {
  await using server = await openApp({ graphs: ['echo'], environment: KEYS });
  expect(await ask(server, EVIL, KEY)).toEqual([200, '*']);
});

test("with configured origins, other origins are refused even with a key, except the server's own pages", async () => {
  const environment = { ...KEYS, CORS_ALLOW_ORIGINS: 'https://a.example' };
  await using server = await openApp({ graphs: ['echo'], environment });
  expect(await ask(server, 'https://a.example', KEY)).toEqual([200, 'https://a.example']);
  expect(await ask(server, EVIL, KEY)).toEqual([403, undefined]);
  expect(await ask(server, 'http://agents.example', { ...KEY, host: 'agents.example' })).toEqual([
    200,
    undefined,
  ]);
});

test.each([
  [EVIL, 4403],
  ['http://localhost:3000', 'open'],
  [undefined, 'open'],
] as const)('a WebSocket opened by a page of %s: %s', async (origin, expected) => {
  await using server = await openApp({ graphs: ['echo'] });
  const { port } = new URL((await server.app.listen()).url);
  const thread_id = await server.thread();
  const address = `ws://localhost:${port}/threads/${thread_id}/stream/events`;
  const socket = new WebSocket(address, { headers: origin ? { origin } : {} });
  const closed = once(socket, 'close') as Promise<[CloseEvent]>;
  await once(socket, 'open');
  if (expected === 'open') {
    const subscribe = { id: 1, method: 'subscription.subscribe', params: { channels: ['values'] } };
    socket.send(JSON.stringify(subscribe));
    const [answer] = (await once(socket, 'message')) as [MessageEvent];
    expect(JSON.parse(String(answer.data))).toMatchObject({ id: 1, type: 'success' });
    socket.close();
  } else expect((await closed)[0].code).toBe(expected);
});

import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const KEY = { 'x-api-key': 'sesame' };

test.each(['localhost', 'localhost:8123', '127.0.0.1:8123', '[::1]:8123', 'app.localhost', 'LOCALHOST'])(
  'a server without keys accepts the host name %s',
  async (host) => {
    await using server = await openApp({ graphs: ['echo'] });
    expect((await server.get('/ok', { host })).status).toBe(200);
  },
);

test.each([
  'evil.example.com',
  'evil.example.com:8123',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  '[::2]',
])('a server without keys refuses host %s, which could be a rebound name', async (host) => {
  await using server = await openApp({ graphs: ['echo'] });
  const { status, body } = await server.get('/assistants', { host });
  expect([status, body.detail]).toEqual([403, expect.stringContaining('server.allowed_hosts')]);
});

test('a configured host name is served', async () => {
  await using server = await openApp({ graphs: ['echo'], server: { allowed_hosts: ['Agents.example.com'] } });
  expect((await server.get('/ok', { host: 'agents.example.com' })).status).toBe(200);
});

test('a server with keys accepts every host name', async () => {
  await using server = await openApp({ graphs: ['echo'], environment: { AGENT_SERVER_API_KEYS: 'sesame' } });
  expect((await server.get('/info', { host: 'agents.example.com', ...KEY })).status).toBe(200);
});

import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const folder = resolve(import.meta.dirname, '../fixtures/own-app');
const APPS = ['hono', 'handler'];
const KEYS = { AGENT_SERVER_API_KEYS: 'sesame' };
const SESSION = { cookie: 'session=1' };

async function open(app: string, parts: Partial<Parameters<typeof openApp>[0]> = {}) {
  const server = await openApp({
    graphs: ['echo'],
    folder,
    http: { app: `./middleware.ts:${app}` },
    ...parts,
  });
  const url = await server.app.server.listen({ host: '127.0.0.1', port: 0 });
  return { ...server, url };
}

/** Without the headers that `fetch` adds. */
async function sent(url: string, method: string, headers: Record<string, string>, body?: string) {
  const outgoing = request(url, { method, headers }).end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, message: response.statusMessage, text, response };
}

test.each(APPS)('%s: a header that middleware adds reaches the server', async (app) => {
  await using server = await open(app, { environment: KEYS });
  expect((await server.post('/threads', {})).status).toBe(401);
  expect((await server.post('/threads', {}, SESSION)).status).toBe(200);
});

test.each(APPS)('%s: middleware may change responses of the server', async (app) => {
  await using server = await open(app);
  const thread_id = await server.thread({ metadata: { name: 'small' } });
  const { status, text } = await sent(`${server.url}/threads/${thread_id}?shout`, 'GET', {});
  expect(status).toBe(200);
  expect(text).toContain('"METADATA":{"NAME":"SMALL"}');
});

test('middleware may respond instead of the server', async () => {
  await using server = await open('hono');
  const answer = await server.get('/threads/01996666-0000-7000-8000-000000000000?instead');
  expect([answer.status, answer.body]).toEqual([200, { instead: 404 }]);
});

test.each(APPS)(
  '%s: a request passes through middleware with a body, without one, and without a content type',
  async (app) => {
    await using server = await open(app);
    const thread_id = await server.thread();
    expect((await sent(`${server.url}/threads/${thread_id}/copy`, 'POST', {})).status).toBe(200);
    const { status, text } = await sent(`${server.url}/threads`, 'POST', {}, '{"metadata":{"a":1}}');
    expect([status, JSON.parse(text)]).toEqual([200, expect.objectContaining({ metadata: { a: 1 } })]);
    expect((await sent(`${server.url}/threads/${thread_id}`, 'DELETE', {})).status).toBe(204);
  },
);

test('a body of unknown length is refused by the custom app as soon as it is too large', async () => {
  await using server = await open('hono', { server: { body_limit: 100 } });
  const outgoing = request(`${server.url}/threads`, { method: 'POST' });
  outgoing.write('"');
  outgoing.write('x'.repeat(200));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(413);
  outgoing.destroy();
});

test('status, cookies and trailers of a custom handler reach the client', async () => {
  await using server = await open('handler');
  const { status, message, text, response } = await sent(`${server.url}/own/teapot`, 'GET', {});
  expect([status, message, text]).toEqual([418, 'Short and stout', 'tea']);
  expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2']);
  expect(response.trailers).toEqual({ 'x-spout': 'tipped' });
});

test('a custom handler gets the address of the client and its headers', async () => {
  await using server = await open('handler');
  expect((await sent(`${server.url}/own/address`, 'GET', {})).text).toBe('127.0.0.1');
  const headers = { 'x-agent-server-context': 'forged', 'x-mine': 'kept' };
  const { text } = await sent(`${server.url}/own/headers`, 'GET', headers);
  expect(text.split(',')).toContain('x-mine');
});

test('the headers of a custom handler arrive before its first event', async () => {
  await using server = await open('handler');
  const left = new AbortController();
  const { headers } = await fetch(`${server.url}/own/events`, { signal: left.signal });
  expect(headers.get('content-type')).toBe('text/event-stream');
  left.abort();
});

test('an error of a custom handler with a status is returned with that status', async () => {
  await using server = await open('handler');
  const { status, body } = await server.get('/own/invalid');
  expect([status, body]).toEqual([422, { detail: 'Not like this' }]);
});

test('an error of a custom handler that has the name of a server error reveals nothing', async () => {
  await using server = await open('handler');
  const { status, body } = await server.get('/own/missing');
  expect([status, body]).toEqual([500, { detail: 'Internal Server Error' }]);
});

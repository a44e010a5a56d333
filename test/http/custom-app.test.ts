import { connect } from 'node:net';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@langchain/langgraph-sdk';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';
import { until } from '../support/until.ts';

const folder = resolve(import.meta.dirname, '../fixtures/own-app');
const RUN = { assistant_id: 'echo', input: { x: 1 } };
const KEYS = { AGENT_SERVER_API_KEYS: 'sesame' };
const KEY = { 'x-api-key': 'sesame' };

type Http = NonNullable<Parameters<typeof openApp>[0]['http']>;

function open(app: string, http: Http = {}, environment: Record<string, string> = {}) {
  return openApp({ graphs: ['echo', 'sleeper'], folder, http: { app, ...http }, environment });
}

test('a Hono app serves its own routes', async () => {
  await using server = await open('./hono.ts:app');
  const origin = 'http://localhost:3000';
  const answer = await server.get('/own/hello?name=you', { 'x-request-id': 'mine', origin });
  expect([answer.status, answer.body]).toEqual([200, { hello: 'you', id: 'mine' }]);
  expect(answer.headers).toMatchObject({ 'x-request-id': 'mine', 'access-control-allow-origin': '*' });
  expect((await server.post('/own/echo', { a: [1] })).body).toEqual({ a: [1] });
  expect((await server.get('/own/stream')).text).toBe('one\ntwo\nthree\n');
  expect((await server.get('/info')).body).toEqual({ mine: true });
});

test("middleware of a Hono app wraps the server's routes", async () => {
  await using server = await open('./hono.ts:app');
  const counted = await server.post('/threads/count', {});
  expect([counted.status, counted.body]).toEqual([200, 0]);
  expect(counted.headers).toMatchObject({ 'x-own': 'was here', 'x-own-status': '200' });
  const missing = await server.get('/nope');
  expect([missing.status, missing.body]).toEqual([404, { detail: 'Not Found' }]);
  expect(missing.headers['x-own-status']).toBe('404');
  expect((await server.get('/threads/x?stop')).body).toEqual({ stopped: true });
});

test("a body that the app has read still reaches the server's routes", async () => {
  await using server = await open('./hono.ts:app');
  const { status, body } = await server.post('/runs/wait?read', RUN);
  expect([status, body]).toEqual([200, expect.objectContaining({ x: 1 })]);
});

test('events pass through the app as they arrive and end with their run', async () => {
  await using server = await open('./hono.ts:app');
  const { status, text, headers } = await server.post('/runs/stream', { ...RUN, stream_mode: 'values' });
  expect([status, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  expect(text).toMatch(/^: heartbeat\r\n\r\nevent: metadata[\s\S]*event: values/);
});

test('a client that disconnects from the app cancels its run', async () => {
  await using server = await open('./hono.ts:app');
  const url = await server.app.server.listen({ host: '127.0.0.1', port: 0 });
  const client = new Client({ apiUrl: url });
  const thread = await client.threads.create();
  const gone = new AbortController();
  const options = { input: { ms: 60_000 }, onDisconnect: 'cancel', signal: gone.signal } as const;
  for await (const { event } of client.runs.stream(thread.thread_id, 'sleeper', options)) {
    if (event === 'metadata') break;
  }
  gone.abort();
  await until(
    'its run is interrupted',
    async () => (await client.runs.list(thread.thread_id))[0]?.status === 'interrupted',
  );
});

test('a request of the custom app is logged once', async () => {
  await using server = await open('./hono.ts:app');
  await server.post('/threads/count', {});
  const lines = server.log.filter(({ message }) => message.startsWith('POST /threads/count'));
  expect(lines).toHaveLength(1);
});

test('responses of the custom app with an error status are unchanged, and thrown errors reveal nothing', async () => {
  await using server = await open('./hono.ts:app');
  const refused = await server.get('/own/refused');
  expect([refused.status, refused.text]).toEqual([400, 'Not like this']);
  const broken = await server.get('/own/broken');
  expect([broken.status, broken.text]).toEqual([500, 'Internal Server Error']);
});

test('a stream of the custom app that fails in the middle is cut off, and its error is logged once', async () => {
  await using server = await open('./hono.ts:app');
  const url = await server.app.server.listen({ host: '127.0.0.1', port: 0 });
  const response = await fetch(`${url}/own/cut`);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('one');
  await expect(reader.read()).rejects.toThrow();
  await until('the error is logged', () => errors(server).length > 0);
  // What the next handler would have answered comes before this.
  await server.get('/own/refused');
  expect(errors(server)).toEqual([naming('cut in the middle')]);
});

/** The errors in the log. */
function errors({ log }: Awaited<ReturnType<typeof open>>): string[] {
  return log.filter(({ level }) => level === 'error').map(({ fields }) => String(fields['error']));
}

test('an in-process client of the custom app without a URL reaches its own server', async () => {
  await using server = await open('./hono.ts:app', { mount_prefix: '/agents' });
  const { status, body } = await server.get('/agents/own/run');
  expect([status, body]).toEqual([200, expect.objectContaining({ x: 7 })]);
  expect((await server.get('/own/run')).status).toBe(404);
  expect((await server.get('/ok')).status).toBe(200);
});

test('a webhook may name a route of the custom app by path, but no route of the server', async () => {
  await using server = await open('./hono.ts:app', { enable_custom_route_auth: true }, KEYS);
  await server.post('/runs/wait', { ...RUN, webhook: '/own/hook' }, KEY);
  await until('the webhook has come', async () => (await server.get('/own/hooks', KEY)).body.length === 1);
  expect((await server.get('/own/hooks', KEY)).body).toMatchObject([{ status: 'success' }]);

  await server.post('/runs/wait', { ...RUN, webhook: '/threads' }, KEY);
  await until('the webhook was refused', () =>
    server.log.some(({ fields }) => JSON.stringify(fields).includes('404')),
  );
  expect((await server.post('/threads/count', {}, KEY)).body).toBe(0);
});

test.each([
  ['with an origin', 'http://anything', '', '/agents'],
  ['with an origin', 'http://anything', '', ''],
  ['percent-encoded', '', '/%61gents', '/agents'],
  ['with an origin and percent-encoded', 'HTTP://anything', '/ag%65nts', '/agents'],
])('middleware sees the URL of a request %s: %s%s under "%s"', async (_form, origin, path, mount_prefix) => {
  await using server = await open('./hono.ts:app', mount_prefix ? { mount_prefix } : {});
  const { port } = await server.app.listen();
  const socket = connect(port, '127.0.0.1');
  const target = `${origin}${path || mount_prefix}/threads/x?stop`;
  socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  expect(await text(socket)).toContain('{"stopped":true}');
});

test('a webhook cannot reach a route of the server by another form of its path', async () => {
  await using server = await open('./hono.ts:app', { mount_prefix: '/agents' });
  const { thread_id } = (await server.post('/agents/threads', {})).body;
  const webhooks = [`/%61gents/threads/${thread_id}/state`, `/threads/${thread_id}/state`, '/ok'];
  for (const webhook of webhooks) await server.post('/agents/runs/wait', { ...RUN, webhook });
  const refused = () => server.log.filter(({ fields }) => JSON.stringify(fields).includes('404')).length;
  await until('the webhooks were refused', () => refused() >= webhooks.length);
  expect((await server.get(`/agents/threads/${thread_id}/state`)).body.values).toEqual({});
});

test.each(['fetching', 'fetchFunction'])('%s serves its own routes', async (name) => {
  await using server = await open(`./others.ts:${name}`);
  expect((await server.get('/own/hello')).body).toEqual({ hello: '' });
  expect((await server.post('/own/hello', '"posted"')).body).toEqual({ hello: '"posted"' });
  expect((await server.post('/runs/wait', RUN)).body).toMatchObject({ x: 1 });
  const own = await server.get('/nope');
  expect([own.status, own.text]).toEqual([404, 'nothing here']);
});

test('a Fastify plugin has its routes in an encapsulated instance', async () => {
  await using server = await open('./others.ts:plugin');
  expect((await server.get('/own/hello')).body).toEqual({ hello: 'plugin' });
  expect((await server.post('/own/echo', { a: 1 })).body).toEqual({ a: 1 });
  expect((await server.post('/runs/wait', RUN)).body).toMatchObject({ x: 1 });
  expect((await server.get('/nope')).body).toEqual({ detail: 'Not Found' });
});

test("an Express handler wraps the server's routes and may have read the body", async () => {
  await using server = await open('./others.ts:handler', { mount_prefix: '/agents' });
  const origin = 'http://localhost:3000';
  const own = await server.get('/agents/own/hello', { origin });
  expect([own.body, own.headers['access-control-allow-origin']]).toEqual([{ hello: 'express' }, '*']);
  const ours = await server.post('/agents/runs/wait', RUN);
  expect([ours.body, ours.headers['x-own']]).toEqual([expect.objectContaining({ x: 1 }), 'was here']);
  const broken = await server.get('/agents/own/broken');
  expect([broken.status, broken.body]).toEqual([500, { detail: 'Internal Server Error' }]);
});

test('a body that is too large does not reach the custom app', async () => {
  await using server = await openApp({
    graphs: ['echo'],
    folder,
    http: { app: './hono.ts:app' },
    server: { body_limit: 100 },
  });
  const answer = await server.post('/own/echo', { text: 'x'.repeat(100) });
  expect([answer.status, answer.body]).toEqual([413, { detail: expect.stringContaining('100 bytes') }]);
});

test('an invalid custom app and a missing file are each reported in one line', async () => {
  await expect(open('./others.ts:nothing')).rejects.toThrow(/http\.app: .*Hono app.*\(req, res, next\)/);
  await expect(open('./others.ts:nope')).rejects.toThrow(/http\.app: .*no export 'nope'/);
});

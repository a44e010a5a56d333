import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';

test('a request that offers an upgrade to HTTP/2 is served over HTTP/1.1', async () => {
  await using server = await openApp({ graphs: ['echo'] });
  const { port } = await server.app.listen();
  const socket = connect(port, '127.0.0.1');
  const offer = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__';
  socket.write(`GET /ok HTTP/1.1\r\nHost: localhost\r\n${offer}\r\n\r\n`);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  expect(String(answer)).toMatch(/^HTTP\/1.1 200 OK/);
});

test('a compressed body is refused with the reason', async () => {
  await using server = await openApp({ graphs: ['echo'] });
  const { statusCode, body } = await server.app.server.inject({
    method: 'POST',
    url: '/threads',
    headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
    payload: gzipSync('{}'),
  });
  expect([statusCode, JSON.parse(body)]).toEqual([422, { detail: naming('Content-Encoding', 'gzip') }]);
});

test('a missing file of the documentation is 404', async () => {
  await using server = await openApp({ graphs: ['echo'] });
  expect((await server.get('/docs/static/nope.js')).status).toBe(404);
  expect((await server.send('DELETE', '/docs/static/nope.js')).status).toBe(405);
});

test('OPTIONS gets a response with and without an Origin', async () => {
  await using server = await openApp({ graphs: ['echo'] });
  expect((await server.send('OPTIONS', '/threads')).status).toBe(200);
  const page = { origin: 'http://localhost:3000' };
  expect((await server.send('OPTIONS', '/threads', undefined, page)).status).toBe(200);
});

test.each([
  ['without a version', 'GET /ok\r\n\r\n', 'no HTTP version'],
  ['with two hosts', 'GET /ok HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n\r\n', 'more than one Host'],
])('a malformed request %s is refused', async (_what, request, reason) => {
  await using server = await openApp({ graphs: ['echo'] });
  const { port } = await server.app.listen();
  const socket = connect(port, '127.0.0.1');
  socket.write(request);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  expect(String(answer)).toMatch(/^HTTP\/1.1 400/);
  expect(String(answer)).toContain(reason);
});

import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { type BareServer, bareServer } from '../support/bare-server.ts';

/** A client that can say half of something. */
async function opened(http: BareServer) {
  const { port } = new URL(await http.listen());
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

const HEAD = 'POST /threads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n';

test.each([
  ['says nothing', ''],
  ['is still writing its headers', HEAD],
  ['is still writing its body', `${HEAD}\r\n{"metadata":`],
  ['has got a response', 'GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['has got a response, and writes again', `GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n${HEAD}`],
])('the server closes although a client %s', async (_what, said) => {
  const http = await bareServer();
  const connected = once(http.server.server, 'connection');
  const socket = await opened(http);
  const [inside] = await connected;
  if (said !== '') {
    const heard = once(inside, 'data');
    socket.write(said);
    await heard;
  }
  const ended = text(socket).catch(() => '');
  await http[Symbol.asyncDispose]();
  await ended;
});

/** Ends when the server has closed the connection; what it said before that. */
async function trickle(http: BareServer, said: string, more: string): Promise<string> {
  const socket = await opened(http);
  const answer = text(socket);
  socket.write(said);
  // A byte now and then keeps other servers waiting for ever.
  const dripping = setInterval(() => socket.write(more), 20);
  return await answer.finally(() => clearInterval(dripping));
}

const QUICK = { options: { request_timeout_ms: 300 } };

test.each([
  ['headers', HEAD, 'X-More: 1\r\n'],
  ['a body', `${HEAD}\r\n`, ' '],
  ['a body in chunks', `${HEAD.replace(/Content-Length.*/, 'Transfer-Encoding: chunked')}\r\n`, '1\r\n \r\n'],
])('a slow request is a 408 and does not block others: %s', async (_what, said, more) => {
  await using http = await bareServer(QUICK);
  const slow = trickle(http, said, more);
  expect((await http.inject('/ok')).statusCode).toBe(200);
  expect(await slow).toMatch(/^HTTP\/1.1 408 .*{"detail":"Request Timeout"}$/s);
});

test('a connection without a request is closed', async () => {
  await using http = await bareServer(QUICK);
  expect(await text(await opened(http))).toMatch(/^HTTP\/1.1 408 /);
});

test('a body may take longer than the limit for headers', async () => {
  await using http = await bareServer({ options: { request_timeout_ms: 10_000 } });
  const connected = once(http.server.server, 'request');
  const socket = await opened(http);
  socket.write('POST /nope HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{');
  await connected;
  // As long as the server gives somebody who says nothing.
  const silent = connect(socket.remotePort as number, '127.0.0.1');
  await text(silent);
  socket.write('}');
  expect(await text(socket)).toMatch(/^HTTP\/1.1 404 /);
});

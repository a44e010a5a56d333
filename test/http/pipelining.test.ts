import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { handleInOrder } from '../../src/http/pipelining.ts';
import { bareServer } from '../support/bare-server.ts';
import { until } from '../support/until.ts';

/** A client that counts its answers. */
function open(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('latin1').on('data', (part) => {
    text += part;
  });
  return {
    socket,
    answers: () => text.split('HTTP/1.1 200').length - 1,
    /** Bodies of answers that are a line each. */
    lines: () => text.match(/(?<=\r\n\r\n).+(?=\n)/g) ?? [],
    [Symbol.dispose]: () => socket.destroy(),
  };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const post = (body: string) =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

async function inOrder(listener: RequestListener) {
  const server = createServer(listener);
  handleInOrder(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Sees each request as soon as it is parsed. */
    onRequest: (listener: (request: IncomingMessage) => void) => server.on('request', listener),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

test('a connection with a thousand pipelined requests does not block other connections', async () => {
  await using server = await bareServer();
  const url = await server.listen();
  using many = open(url);
  many.socket.write(get('/ok').repeat(1000));
  await once(many.socket, 'data');
  using other = open(url);
  other.socket.write(get('/ok'));
  await until('the other is answered', () => other.answers() === 1);
  expect(many.answers()).toBeLessThan(500);
  await until('all are answered', () => many.answers() === 1000);
});

test('a pipelined request is handled after the response to the one before', async () => {
  const begun: string[] = [];
  const gates = new Map<string, () => void>();
  await using server = await inOrder(({ url = '' }, response) => {
    begun.push(url);
    gates.set(url, () => response.end('\n'));
  });
  using client = open(server.url);
  client.socket.write(get('/1') + get('/2'));
  await until('the first has begun', () => gates.has('/1'));
  using other = open(server.url);
  other.socket.write(get('/3'));
  await until('that of another connection has begun', () => gates.has('/3'));
  expect(begun).toEqual(['/1', '/3']);
  gates.get('/1')?.();
  await until('the second has begun', () => gates.has('/2'));
});

test('pipelined requests with large bodies all get responses, in order', async () => {
  await using server = await inOrder(async (request, response) => {
    response.end(`${(await buffer(request)).length}\n`);
  });
  using client = open(server.url);
  const lengths = Array.from({ length: 60 }, (_, i) => 1 + ((i * 37_000) % 400_000));
  client.socket.write(lengths.map((length) => post('x'.repeat(length))).join(''));
  await until('all are answered', () => client.answers() === lengths.length);
  expect(client.lines().map(Number)).toEqual(lengths);
});

test('a connection is not read while pipelined requests wait', async () => {
  const sockets = new Map<string, Socket>();
  await using server = await inOrder(({ url = '', socket }: IncomingMessage, response) => {
    sockets.set(url, socket);
    if (url !== '/held') response.end('\n');
  });
  using client = open(server.url);
  client.socket.write(get('/held') + get('/waits').repeat(200_000));
  await until('the first has begun', () => sockets.has('/held'));
  using other = open(server.url);
  for (let turn = 1; turn <= 20; turn++) {
    other.socket.write(get('/other'));
    await until('another connection is answered', () => other.answers() === turn);
  }
  expect(sockets.get('/held')?.bytesRead).toBeLessThan(1024 ** 2);
});

test('pipelined requests that wait are dropped when their connection ends', async () => {
  const begun: string[] = [];
  await using server = await inOrder(({ url = '' }, response) => {
    begun.push(url);
    if (url === '/other') response.end('\n');
    else response.once('close', () => begun.push('closed'));
  });
  using client = open(server.url);
  client.socket.write(get('/held'));
  await until('it has begun', () => begun.length === 1);
  client.socket.write(get('/waits'), () => client.socket.resetAndDestroy());
  await until('it is closed', () => begun.includes('closed'));
  using other = open(server.url);
  other.socket.write(get('/other'));
  await until('another connection is answered', () => other.answers() === 1);
  expect(begun).toEqual(['/held', 'closed', '/other']);
});

test('dropped pipelined requests create no stack traces', async () => {
  const seen: IncomingMessage[] = [];
  await using server = await inOrder(() => {});
  server.onRequest((request) => seen.push(request));
  const limit = Error.stackTraceLimit;
  using client = open(server.url);
  client.socket.write(get('/held') + get('/waits').repeat(50));
  await until('all have arrived', () => seen.length === 51);
  client.socket.resetAndDestroy();
  await until('all are destroyed', () => seen.every(({ destroyed }) => destroyed));
  expect(seen.map(({ errored }) => errored?.message)).toEqual(seen.map(() => 'aborted'));
  expect(seen.filter(({ errored }) => errored?.stack?.includes('\n    at '))).toEqual([]);
  expect(Error.stackTraceLimit).toBe(limit);
});

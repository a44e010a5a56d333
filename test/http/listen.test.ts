import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { immediate } from '../../src/core/event-loop.ts';
import { addressesOf, listenAt, portOf } from '../../src/http/listen.ts';
import { bareServer } from '../support/bare-server.ts';

/** Two of this machine, as `127.0.0.1` and `::1` are, which not every machine has. */
const ADDRESSES = ['127.0.0.1', '127.0.0.2'] as const;

test('a server listens on each of its addresses and stops listening on all', async () => {
  await using server = await bareServer();
  const listening = await listenAt(server.server, [...ADDRESSES, '192.0.2.1'], 0);
  const { port } = new URL(listening.url);
  for (const address of ADDRESSES) {
    const { status } = await fetch(`http://${address}:${port}/ok`);
    expect(status).toBe(200);
  }
  // A browser's preconnect.
  const accepted = once(server.server.server, 'connection');
  const idle = connect(Number(port), '127.0.0.2');
  await accepted;
  await Promise.all([listening[Symbol.asyncDispose](), server.server.close(), once(idle, 'close')]);
  for (const address of ADDRESSES) await expect(fetch(`http://${address}:${port}/ok`)).rejects.toThrow();
});

test('a closing server answers the connections that wait at its second address', async () => {
  await using server = await bareServer();
  const listening = await listenAt(server.server, ADDRESSES, 0);
  const { host, port } = new URL(listening.url);
  const request = `GET /ok HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  // Node accepts one in a turn.
  const clients = Array.from({ length: 20 }, () => connect(Number(port), ADDRESSES[1]));
  for (const client of clients) client.write(request);
  const answers = Promise.all(clients.map((client) => text(client)));
  await once(clients[0] as Socket, 'connect');

  await Promise.all([listening[Symbol.asyncDispose](), server.server.close()]);

  for (const answer of await answers) expect(answer).toContain('HTTP/1.1 200 ');
});

test.each([
  ['GET', 200],
  ['POST', 405],
])(
  '%s on a connection that a closing server has just accepted is answered with %s, as the last on it',
  async (method, status) => {
    await using server = await bareServer();
    const url = new URL(await server.listen());
    const accepted = once(server.server.server, 'connection');
    const client = connect(Number(url.port), url.hostname);
    const ended = text(client);
    await accepted;
    const closed = server.server.close();
    while (server.server.server.listening) await immediate();
    client.write(`${method} /ok HTTP/1.1\r\nHost: ${url.host}\r\nContent-Length: 0\r\n\r\n`);
    const answer = await ended;
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toMatch(/^connection: close\r$/im);
    await closed;
  },
);

test('bytes that are not HTTP get the same response at each address', async () => {
  await using server = await bareServer();
  await using listening = await listenAt(server.server, ADDRESSES, 0);
  const { port } = new URL(listening.url);
  const answers = ADDRESSES.map(async (address) => {
    const client = connect(Number(port), address, () => client.write('no HTTP\r\n\r\n'));
    const parts: string[] = [];
    client.setEncoding('latin1').on('data', (part) => parts.push(String(part)));
    await once(client, 'close');
    return parts.join('');
  });
  const [one, other] = await Promise.all(answers);
  expect(one).toContain('HTTP/1.1 400');
  expect(other).toBe(one);
});

test('only localhost listens on several addresses', async () => {
  expect(await addressesOf('127.0.0.1')).toEqual(['127.0.0.1']);
  expect(await addressesOf('0.0.0.0')).toEqual(['0.0.0.0']);
  expect(await addressesOf('localhost')).toContain('127.0.0.1');
});

test('the port of a URL without one is 80', () => {
  expect(['http://127.0.0.1:80', 'http://[::1]:8123'].map(portOf)).toEqual([80, 8123]);
});

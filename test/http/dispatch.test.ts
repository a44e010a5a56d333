import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MountedServer } from '../../src/http/dispatch.ts';

/** What listens; the app has no socket of its own. */
const front = createServer();
const app = fastify();
let answered = 0;

beforeAll(async () => {
  app.get('/', () => {
    answered += 1;
    return {};
  });
  app.server.on('upgrade', (_request, socket: Duplex) => {
    answered += 1;
    socket.destroy();
  });
  await app.ready();
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
});

afterAll(async () => {
  front.close();
  await app.close();
});

/** A request as it arrives, and its client. */
async function arrived<Arrival>(event: 'request' | 'upgrade', headers = '') {
  const arrival = once(front, event) as Promise<unknown[]> as Promise<Arrival>;
  const client = connect((front.address() as AddressInfo).port, '127.0.0.1');
  client.write(`GET / HTTP/1.1\r\nhost: here\r\n${headers}\r\n`);
  return { client, arrival: await arrival };
}

test('a request whose client disconnected before routing is not counted as open', async () => {
  const { client, arrival } = await arrived<[IncomingMessage, ServerResponse]>('request');
  const closed = once(arrival[1], 'close');
  client.destroy();
  await closed;
  const mount = new MountedServer(app);
  mount.request(...arrival);
  expect(mount.open).toBe(0);
  expect(answered).toBe(0);
});

test('an upgrade whose socket closed before routing is not counted as open', async () => {
  const headers = 'connection: upgrade\r\nupgrade: websocket\r\n';
  const { arrival } = await arrived<[IncomingMessage, Duplex, Buffer]>('upgrade', headers);
  const closed = once(arrival[1], 'close');
  arrival[1].destroy();
  await closed;
  const mount = new MountedServer(app);
  mount.upgrade(...arrival);
  expect(mount.open).toBe(0);
  expect(answered).toBe(0);
});

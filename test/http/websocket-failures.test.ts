import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

test('a refused WebSocket client that sends no close frame is disconnected without an error', async () => {
  const environment = { AGENT_SERVER_API_KEYS: 'operator' };
  await using server = await openApp({ graphs: ['echo'], environment });
  const { port } = await server.app.listen();
  const socket = connect(port, '127.0.0.1');
  const path = '/threads/4a9b2ba1-3b13-4f9f-8c1f-0b7c2f4c2d11/stream/events';
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13';
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n${key}\r\n\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /);
  // Reserved bits and an unknown kind.
  socket.write(Buffer.from([0xff, 0x80, 0, 0, 0, 0]));
  await once(socket, 'close');
  expect((await server.get('/ok')).status).toBe(200);
});

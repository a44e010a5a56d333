import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Sends a request over a socket that nobody ever reads from: its reply fills what lies between, and then stands. */
export async function openAndNeverRead(
  url: string,
  method: 'GET' | 'POST',
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Readonly<Record<string, string>> } = {},
): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  // The server may cut it off, or go away.
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause();
  const text = body === undefined ? '' : JSON.stringify(body);
  const type = text === '' ? {} : { 'Content-Type': 'application/json', 'Content-Length': `${text.length}` };
  const fields = Object.entries({ Host: hostname, ...type, ...headers });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines}\r\n${text}`);
  return socket;
}

const HANDSHAKE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** The same over a WebSocket of event streaming, which subscribes to channels of a thread. */
export async function subscribeAndNeverRead(
  url: string,
  thread_id: string,
  channels: readonly string[],
): Promise<Socket> {
  const path = `/threads/${thread_id}/stream/events`;
  const socket = await openAndNeverRead(url, 'GET', path, { headers: HANDSHAKE });
  socket.write(message({ id: 1, method: 'subscription.subscribe', params: { channels } }));
  return socket;
}

/** A text as a client sends it over a WebSocket; masked with zeros, which leave it as it is. */
function message(content: object): Buffer {
  const text = Buffer.from(JSON.stringify(content));
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]);
}

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { MAX_WAITING_BYTES, MAX_WAITING_MESSAGES } from '../../src/http/event-streaming/receive-window.ts';
import { openApp } from '../support/app.ts';
import { bareServer } from '../support/bare-server.ts';
import { until } from '../support/until.ts';

/** What a connection is read in. */
const CHUNK = 64 * 1024;

type Envelope = { readonly id: number };

/** A server whose commands are answered once `open` was called, with this text. */
async function slowServer({ padding = '', options = {} } = {}) {
  const gate = Promise.withResolvers<void>();
  const carriedOut: number[] = [];
  const eventStreaming = {
    connect: async (_actor: unknown, _thread_id: string, _sink: unknown, signal: AbortSignal) => ({
      served: once(signal, 'abort').then(() => {}),
      async command({ id }: Envelope) {
        carriedOut.push(id);
        await gate.promise;
        return { type: 'success', id, result: { padding } };
      },
    }),
  };
  const http = await bareServer({ services: { eventStreaming }, options });
  const url = new URL(`${await http.listen()}/threads/${randomUUID()}/stream/events`);
  const connected = once(http.server.server, 'connection') as Promise<[Socket]>;
  const sockets = (): { readonly isPaused: boolean; readonly bufferedAmount: number }[] => [
    ...http.server.websocketServer.clients,
  ];
  return {
    url,
    carriedOut,
    open: () => gate.resolve(),
    connected: connected.then(([socket]) => socket),
    sockets,
    /** A client is held back. */
    isHolding: () => sockets().some(({ isPaused }) => isPaused),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}

/** A client that keeps the ids of what is answered. */
async function chatty(url: URL | string) {
  const socket = new WebSocket(String(url).replace('http', 'ws'));
  const ids: number[] = [];
  socket.addEventListener('message', ({ data }) => ids.push((JSON.parse(String(data)) as Envelope).id));
  await once(socket, 'open');
  return {
    ids,
    socket,
    send(count: number, command: object = { method: 'state.get' }) {
      for (let id = 0; id < count; id++) socket.send(JSON.stringify({ id, ...command }));
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

const upTo = (count: number) => Array.from({ length: count }, (_, id) => id);
const large = (bytes: number) => ({ method: 'state.get', params: { padding: 'x'.repeat(bytes) } });

test('a WebSocket client that sends faster than it gets responses is held back, and gets all of them', async () => {
  await using server = await slowServer();
  using client = await chatty(server.url);
  const connection = await server.connected;
  client.send(2000, large(CHUNK));
  const most = MAX_WAITING_BYTES + 2 * CHUNK;
  await until('it is held back', () => server.isHolding() || connection.bytesRead > most);
  expect(connection.bytesRead).toBeLessThan(most);
  server.open();
  await until('all is answered', () => client.ids.length === 2000);
  expect(client.ids).toEqual(upTo(2000));
  expect(server.isHolding()).toBe(false);
});

test('large commands count towards the budget of bodies and are refused over it, but small ones never are', async () => {
  const options = { body_limit: 300 * 1024, body_budget: 400 * 1024 };
  await using server = await slowServer({ options });
  using holding = await chatty(server.url);
  holding.send(1, large(250 * 1024));
  await until('it is carried out', () => server.carriedOut.length === 1);

  const answers: unknown[] = [];
  using client = await chatty(server.url);
  client.socket.addEventListener('message', ({ data }) => answers.push(JSON.parse(String(data))));
  client.socket.send(JSON.stringify({ id: 7, ...large(250 * 1024) }));
  client.socket.send(JSON.stringify({ ...large(250 * 1024), id: 8 }));
  await until('both are refused', () => answers.length === 2);
  const message = expect.stringMatching(/^503: .* large requests: try again$/);
  expect(answers).toEqual([7, null].map((id) => ({ type: 'error', id, error: 'unknown_error', message })));
  client.socket.send(JSON.stringify({ id: 9, ...large(50 * 1024) }));
  await until('a small one is carried out', () => server.carriedOut.includes(9));

  server.open();
  await until('both are answered', () => holding.ids.length === 1 && client.ids.includes(9));
  client.socket.send(JSON.stringify({ id: 10, ...large(250 * 1024) }));
  await until('there is room again', () => client.ids.includes(10));
  expect(answers.at(-1)).toMatchObject({ type: 'success', id: 10 });
});

test('a command of a disconnected client is no longer counted once it is executed', async () => {
  const options = { body_limit: 300 * 1024, body_budget: 300 * 1024 };
  await using server = await slowServer({ options });
  const left = await chatty(server.url);
  left.send(1, large(250 * 1024));
  await until('it is carried out', () => server.carriedOut.length === 1);
  left.socket.close();
  server.open();
  using client = await chatty(server.url);
  const carriedOut = () => {
    client.socket.send(JSON.stringify({ id: 5, ...large(250 * 1024) }));
    return server.carriedOut.includes(5);
  };
  await until('there is room again', carriedOut);
});

test('small commands count towards the limit of pending commands', async () => {
  await using server = await slowServer();
  using client = await chatty(server.url);
  const connection = await server.connected;
  client.send(20_000);
  const most = 3 * CHUNK;
  await until('it is held back', () => server.isHolding() || connection.bytesRead > most);
  expect(connection.bytesRead).toBeLessThan(most);
  server.open();
  await until('all is answered', () => client.ids.length === 20_000);
  expect(client.ids).toEqual(upTo(20_000));
});

test('concurrent subscriptions count towards the limit of pending commands', async () => {
  await using server = await slowServer();
  using client = await chatty(server.url);
  client.send(1000, { ...large(CHUNK / 4), method: 'subscription.subscribe' });
  await until('it is held back', () => server.isHolding() || server.carriedOut.length === 1000);
  expect(server.carriedOut.length).toBeLessThan(MAX_WAITING_MESSAGES + 5);
  server.open();
  await until('all is answered', () => client.ids.length === 1000);
  expect(client.ids).toEqual(upTo(1000));
});

test('commands to a thread are answered in order, even when they arrive at once', async () => {
  await using app = await openApp({ graphs: ['echo'], one_process: 'it is about one connection' });
  const { url } = await app.app.listen();
  const thread_id = await app.thread();
  using client = await chatty(`${url}/threads/${thread_id}/stream/events`);
  client.send(3000, large(CHUNK / 4));
  await until('all is answered', () => client.ids.length === 3000);
  expect(client.ids).toEqual(upTo(3000));
});

/** A client that speaks the protocol by hand, to do what well-behaved ones do not. */
async function raw(url: URL): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  const key = Buffer.alloc(16).toString('base64');
  socket.write(
    `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  );
  await once(socket, 'data');
  return socket;
}

const TEXT = 1;
const PING = 9;
const PONG = 10;

/** Masked with zeros, which leaves the text as it is. */
function frame(opcode: number, text: string): Buffer {
  const length = Buffer.alloc(text.length < 126 ? 2 : 4);
  length[0] = 0x80 | opcode;
  length[1] = 0x80 | (text.length < 126 ? text.length : 126);
  if (text.length >= 126) length.writeUInt16BE(text.length, 2);
  return Buffer.concat([length, Buffer.alloc(4), Buffer.from(text)]);
}

function commands(count: number): Buffer[] {
  return upTo(count).map((id) => frame(TEXT, JSON.stringify({ id, ...large(1000) })));
}

test('a ping of a client that is held back is answered after its earlier commands', async () => {
  await using server = await slowServer();
  const client = await raw(server.url);
  client.write(Buffer.concat([...commands(500), frame(PING, 'still here?')]));
  await until('it is held back', server.isHolding);
  const pong = Buffer.concat([Buffer.from([0x80 | PONG, 11]), Buffer.from('still here?')]);
  let heard = Buffer.alloc(0);
  client.on('data', (chunk: Buffer) => {
    heard = Buffer.concat([heard, chunk]);
  });
  server.open();
  await until('the ping is answered', () => heard.includes(pong));
  client.destroy();
});

test.for([
  ['says no word', (client: Socket) => client.resetAndDestroy()],
  ['closes', (client: Socket) => client.end()],
] as const)('a held-back WebSocket client that %s leaves nothing behind', async ([_how, leave]) => {
  await using server = await slowServer();
  const client = await raw(server.url);
  client.resume();
  client.write(Buffer.concat(commands(5000)));
  await until('it is held back', server.isHolding);
  leave(client);
  server.open();
  await until('it is gone', () => server.sockets().length === 0);
});

test('a WebSocket client that reads no responses is no longer read from', async () => {
  await using server = await slowServer({ padding: 'x'.repeat(4 * CHUNK) });
  server.open();
  const client = await raw(server.url);
  client.pause();
  client.write(Buffer.concat(commands(2000)));
  await until('it is held back', () =>
    server.sockets().some(({ isPaused, bufferedAmount }) => isPaused && bufferedAmount > 0),
  );
  const [socket] = server.sockets();
  expect(socket?.bufferedAmount).toBeLessThan(8 * CHUNK);
  client.destroy();
  await until('it is gone', () => server.sockets().length === 0);
});

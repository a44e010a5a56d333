import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { UNRESTRICTED } from '../../src/auth/actor.ts';
import { silentLogger } from '../../src/core/logger.ts';
import { disconnectIfSilent, type Pingable } from '../../src/http/event-streaming/liveness.ts';
import { runSession, type Socket } from '../../src/http/event-streaming/websocket-session.ts';
import { bareServer } from '../support/bare-server.ts';
import { endlessSubscription } from '../support/endless-subscription.ts';

/** A socket whose client does with each ping what is said. */
function socketOf(onPing: (socket: Socket & EventEmitter, pings: number) => void) {
  const terminated = Promise.withResolvers<number>();
  let pings = 0;
  const socket = Object.assign(new EventEmitter(), {
    isPaused: false,
    bufferedAmount: 0,
    ping() {
      pings += 1;
      onPing(socket, pings);
    },
    terminate() {
      terminated.resolve(pings);
      socket.emit('close');
    },
    close() {},
    resume() {},
  }) as unknown as Socket & EventEmitter & { isPaused: boolean; bufferedAmount: number };
  return { socket, terminated: terminated.promise };
}

test('a WebSocket client that no longer answers pings is disconnected, and its subscriptions end', async () => {
  const { socket, terminated } = socketOf((peer, pings) => {
    if (pings <= 3) peer.emit('pong');
  });
  const { eventStreaming, ended } = endlessSubscription();
  runSession(socket, { ...UNRESTRICTED, request_id: 'r' }, 'a-thread', {
    eventStreaming,
    authenticate: async () => ({ ...UNRESTRICTED, request_id: 'r' }),
    count: async () => {},
    ping_every_ms: 1,
    logger: silentLogger,
    bodies: { json: async () => ({ value: {} }), count: () => ({ [Symbol.dispose]() {} }) },
  });
  expect(await terminated).toBe(5);
  await ended;
});

test('a message of a WebSocket client counts as an answer to pings', async () => {
  const { socket, terminated } = socketOf((peer, pings) => {
    if (pings <= 4) peer.emit('message', Buffer.from('{}'));
  });
  using gone = abortAtEnd();
  disconnectIfSilent(socket, gone.signal, 1);
  expect(await terminated).toBe(6);
});

test.for(['isPaused', 'bufferedAmount'] as const)(
  'a WebSocket client is not disconnected for missing pongs while the socket is busy: %s',
  async (why) => {
    let looks = 0;
    const { socket, terminated } = socketOf(() => {});
    // Busy after its first ping, for ten looks.
    Object.defineProperty(socket, why, {
      get() {
        looks += 1;
        return looks > 1 && looks <= 11 ? 1 : 0;
      },
    });
    using gone = abortAtEnd();
    disconnectIfSilent(socket, gone.signal, 1);
    expect(await terminated).toBe(3);
    expect(looks).toBe(14);
  },
);

test('over the network, clients that answer pings stay and silent ones are disconnected', async () => {
  const eventStreaming = {
    connect: async (_actor: unknown, _thread_id: string, _sink: unknown, signal: AbortSignal) => ({
      served: once(signal, 'abort').then(() => {}),
    }),
  };
  await using http = await bareServer({ services: { eventStreaming } });
  const url = new URL(`${await http.listen()}/threads/${randomUUID()}/stream/events`);
  const answering = new WebSocket(String(url).replace('http', 'ws'));
  await once(answering, 'open');
  const silent = connect(Number(url.port), url.hostname);
  silent.write(
    `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`,
  );
  await once(silent, 'data');
  const closed = once(silent, 'close');
  using gone = abortAtEnd();
  const clients: ReadonlySet<Pingable> = http.server.websocketServer.clients;
  for (const socket of clients) disconnectIfSilent(socket, gone.signal, 50);
  silent.resume();
  await closed;
  expect(answering.readyState).toBe(WebSocket.OPEN);
  answering.close();
});

function abortAtEnd() {
  const gone = new AbortController();
  return { signal: gone.signal, [Symbol.dispose]: () => gone.abort() };
}

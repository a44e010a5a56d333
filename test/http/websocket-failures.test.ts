import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { type Actor, UNRESTRICTED } from '../../src/auth/actor.ts';
import { silentLogger } from '../../src/core/logger.ts';
import {
  runSession,
  type SessionDeps,
  type Socket,
} from '../../src/http/event-streaming/websocket-session.ts';
import type { EventSink } from '../../src/services/event-streaming/subscriber.ts';
import { openApp } from '../support/app.ts';
import { recordingMeter } from '../support/recording-meter.ts';

test('an event that cannot be written to its WebSocket is counted', async () => {
  const { meter, counts } = recordingMeter();
  const failed = Promise.withResolvers<void>();
  const socket = Object.assign(new EventEmitter(), {
    bufferedAmount: 0,
    isPaused: false,
    send(_text: string, onWritten?: (error?: Error | null) => void) {
      onWritten?.(new Error('WebSocket is not open'));
      failed.resolve();
    },
    close() {},
    ping() {},
    terminate() {},
    pause() {},
    resume() {},
  }) as unknown as Socket & EventEmitter;
  const eventStreaming = {
    async connect(_actor: Actor, _thread_id: string, sink: EventSink) {
      sink.send({ seq: 1, method: 'values', channel: 'values', namespace: [], text: '{}' });
      return { served: new Promise(() => {}), command: async () => ({ type: 'success', id: 1, result: {} }) };
    },
  } as unknown as SessionDeps['eventStreaming'];

  runSession(socket, { ...UNRESTRICTED, request_id: 'r' }, 'a-thread', {
    eventStreaming,
    authenticate: async () => ({ ...UNRESTRICTED, request_id: 'r' }),
    count: async () => {},
    logger: silentLogger,
    meter,
    bodies: { json: async () => ({ value: {} }), count: () => ({ [Symbol.dispose]() {} }) },
  });
  await failed.promise;
  expect(counts).toEqual({ protocol_v2_transport_send_failure: 1 });
});

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

import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { type Actor, UNRESTRICTED } from '../../src/auth/actor.ts';
import { silentLogger } from '../../src/core/logger.ts';
import {
  runSession,
  type SessionDeps,
  type Socket,
} from '../../src/http/event-streaming/websocket-session.ts';
import type { EventSink } from '../../src/services/event-streaming/subscriber.ts';
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
    logger: silentLogger,
    meter,
    bodies: { json: async () => ({ value: {} }), count: () => ({ [Symbol.dispose]() {} }) },
  });
  await failed.promise;
  expect(counts).toEqual({ protocol_v2_transport_send_failure: 1 });
});

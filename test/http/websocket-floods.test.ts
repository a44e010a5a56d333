import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { type Actor, UNRESTRICTED } from '../../src/auth/actor.ts';
import { silentLogger } from '../../src/core/logger.ts';
import {
  runSession,
  type SessionDeps,
  type Socket,
} from '../../src/http/event-streaming/websocket-session.ts';

const COMMANDS = 50;

/** Holds the event loop as long as a step after which others get a turn. */
function compute(): void {
  const until = performance.now() + 5;
  while (performance.now() < until);
}

test('a WebSocket client that floods commands does not block other clients', async () => {
  const done = Promise.withResolvers<void>();
  let answered = 0;
  const socket = Object.assign(new EventEmitter(), {
    bufferedAmount: 0,
    isPaused: false,
    send(_text: string, onWritten?: () => void) {
      answered += 1;
      if (answered === COMMANDS) done.resolve();
      onWritten?.();
    },
    close() {},
    ping() {},
    terminate() {},
    pause() {},
    resume() {},
  }) as unknown as Socket & EventEmitter;
  const eventStreaming = {
    connect: async () => ({
      served: new Promise(() => {}),
      async command() {
        compute();
        return { type: 'success', id: 1, result: {} };
      },
    }),
  } as unknown as SessionDeps['eventStreaming'];
  const actor: Actor = { ...UNRESTRICTED, request_id: 'r' };
  runSession(socket, actor, 'a-thread', {
    eventStreaming,
    authenticate: async () => actor,
    count: async () => {},
    logger: silentLogger,
    bodies: { json: async () => ({ value: {} }), count: () => ({ [Symbol.dispose]() {} }) },
  });
  for (let i = 0; i < COMMANDS; i++) socket.emit('message', Buffer.from('{}'));

  const answeredBeforeOthers = await new Promise((turn) => setImmediate(() => turn(answered)));
  expect(answeredBeforeOthers).toBeLessThan(COMMANDS / 2);
  await done.promise;
});

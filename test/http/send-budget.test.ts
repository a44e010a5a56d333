import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { LogLine } from '../../src/core/logger.ts';
import { limitUnread } from '../../src/http/send-budget.ts';
import { naming } from '../support/naming.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { openAndNeverRead } from '../support/silent-client.ts';
import { until } from '../support/until.ts';

const MEGABYTE = 1024 ** 2;
/** More than the buffers of a connection between two processes take. */
const ANSWER = Buffer.alloc(16 * MEGABYTE, 'x');

/** A server that answers each request with so much, and may hold `budget` bytes of it. */
async function answering(budget: number) {
  const server = createServer((_request, response) => response.end(ANSWER));
  const log: LogLine[] = [];
  const logger = recordingLogger('debug', (line) => log.push(line));
  const limit = limitUnread(server, { budget, logger, every_ms: 10 });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.once('close', () => sockets.delete(socket))));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    connections: () => sockets.size,
    held: () => [...sockets].reduce((bytes, { writableLength }) => bytes + writableLength, 0),
    async [Symbol.asyncDispose]() {
      limit[Symbol.dispose]();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

test('clients that do not read are disconnected until the rest is within the send budget', async () => {
  const budget = 3.5 * ANSWER.length;
  await using server = await answering(budget);
  using silent = new DisposableStack();
  const open = async () => {
    const socket = await openAndNeverRead(server.url, 'GET', '/');
    silent.defer(() => socket.destroy());
  };
  for (let i = 0; i < 3; i++) await open();
  await until('they hold their answers', () => server.held() > 2 * ANSWER.length);
  for (let i = 0; i < 5; i++) await open();
  await until('some are disconnected', () => server.log.length > 0 && server.held() <= budget);
  expect(server.connections()).toBeGreaterThanOrEqual(3);
  expect(server.log[0]).toMatchObject({
    level: 'warn',
    message: naming('server.send_budget'),
  });
  const answer = await fetch(server.url);
  expect((await answer.arrayBuffer()).byteLength).toBe(ANSWER.length);
});

test('if clients hold the same amount, the one that has held it longest is disconnected', async () => {
  await using server = await answering(1.5 * ANSWER.length);
  using clients = new DisposableStack();
  const open = async () => {
    const socket = await openAndNeverRead(server.url, 'GET', '/');
    clients.defer(() => socket.destroy());
    return socket;
  };
  const early = await open();
  await until('it holds its answer', () => server.held() > 0.5 * ANSWER.length);
  await open();
  await until('one is disconnected', () => server.log.length > 0);
  // A client notices when it reads.
  const closed = once(early, 'close');
  early.resume();
  await closed;
  expect(server.connections()).toBe(1);
});

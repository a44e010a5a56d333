import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type LogLine, silentLogger } from '../../src/core/logger.ts';
import { closeIfStalled, closeStalled } from '../../src/http/stalled-clients.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { openAndNeverRead } from '../support/silent-client.ts';

/** Longer than the system of a reading client takes to make room again. */
const STALLED_MS = 300;
/** More than the buffers of a connection take. */
const RESPONSE = Buffer.alloc(48 * 1024 ** 2, 'x');

/** `/large` answers with much at once; others after several time-outs. */
async function answering(stalled_ms = STALLED_MS) {
  const log: LogLine[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/large') response.end(RESPONSE);
    else setTimeout(() => response.end('late'), 3 * STALLED_MS);
  });
  const logger = recordingLogger('debug', (line) => log.push(line));
  const stalled = closeStalled(server, { logger, stalled_ms });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    server,
    log,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      stalled[Symbol.dispose]();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

test('a client that takes nothing of its response is disconnected', async () => {
  await using http = await answering();
  const accepted = once(http.server, 'connection');
  await openAndNeverRead(http.url, 'GET', '/large');
  const [connection] = (await accepted) as [Socket];
  await once(connection, 'close');
  expect(http.log).toMatchObject([{ level: 'warn', fields: { bytes: expect.any(Number) } }]);
});

test('a client that reads a little at a time gets the whole response, however long that takes', async () => {
  // Longer than a busy machine leaves the client without a turn, and shorter than the response takes.
  await using http = await answering(1_500);
  const [response] = (await once(get(`${http.url}/large`), 'response')) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    await sleep(5);
  }
  expect([bytes, http.log]).toEqual([RESPONSE.length, []]);
});

test('a client that stalls at the second response of its connection is disconnected, too', async () => {
  await using http = await answering();
  const accepted = once(http.server, 'connection');
  const client = connect(Number(new URL(http.url).port), '127.0.0.1');
  await using _client = { [Symbol.asyncDispose]: async () => void client.destroy() };
  const [connection] = (await accepted) as [Socket];
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(client, 'data');
  client.pause().write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(connection, 'close');
  expect(http.log).toMatchObject([{ level: 'warn' }]);
});

test('a client that waits for a slow response is not taken for one that does not read', async () => {
  await using http = await answering();
  const [response] = (await once(get(http.url), 'response')) as [IncomingMessage];
  expect(String(await buffer(response))).toBe('late');
});

test('a connection without HTTP is closed by the same rule', async () => {
  const server = createTcpServer((socket) => {
    closeIfStalled(socket, { logger: silentLogger, stalled_ms: STALLED_MS });
    socket.write(RESPONSE);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const accepted = once(server, 'connection');
  using client = new DisposableStack();
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  client.defer(() => socket.destroy());
  const [connection] = (await accepted) as [Socket];
  await once(connection, 'close');
  await new Promise((closed) => server.close(closed));
});

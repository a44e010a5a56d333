import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/core/logger.ts';
import { callerWatch } from '../../src/http/caller-watch.ts';
import { trackConnections } from '../../src/http/connections.ts';
import { eventSender } from '../../src/http/sse.ts';

/** Lengths of the chunks in which a response of `frames` arrives, without the last, empty one; and its body. */
async function chunksOf(frames: () => AsyncIterable<{ seq: number; event: string; data: string }>) {
  const server = fastify();
  const callers = callerWatch({ authenticate: undefined, logger: silentLogger });
  const send = eventSender(trackConnections(server, silentLogger), callers, silentLogger);
  server.get('/', (_request, reply) => send(reply, { headers: {}, resumable: false, frames }));
  await server.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  socket.end('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  let text = '';
  socket.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  await once(socket, 'close');
  await server.close();
  const lengths: number[] = [];
  let body = '';
  for (let at = text.indexOf('\r\n\r\n') + 4; ; ) {
    const line_end = text.indexOf('\r\n', at);
    const length = Number.parseInt(text.slice(at, line_end), 16);
    if (length === 0) return { lengths, body };
    lengths.push(length);
    body += text.slice(line_end + 2, line_end + 2 + length);
    at = line_end + 2 + length + 2;
  }
}

const frame = (seq: number, data = '"token"') => ({ seq, event: 'custom', data });

test('the first event of a stream is sent at once, and later events of one turn are sent together', async () => {
  const { lengths, body } = await chunksOf(async function* () {
    for (let seq = 1; seq <= 100; seq++) yield frame(seq);
  });
  // A heartbeat, the first event, the others.
  expect(lengths).toHaveLength(3);
  expect(body.match(/event: custom\r\ndata: "token"\r\n\r\n/g)).toHaveLength(100);
});

test('a stream with endless events in one turn is sent in parts', async () => {
  const large = JSON.stringify('x'.repeat(10_000));
  const { lengths, body } = await chunksOf(async function* () {
    for (let seq = 1; seq <= 50; seq++) yield frame(seq, large);
  });
  expect(Math.max(...lengths)).toBeLessThan(40_000);
  expect(body.match(/event: custom/g)).toHaveLength(50);
});

import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { bareServer } from '../support/bare-server.ts';

const GET = 'GET /ok HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
const CLIENTS = 50;

test('a server that closes answers all connections that wait to be accepted', async () => {
  const http = await bareServer();
  const { port } = new URL(await http.listen());
  const answers = Array.from({ length: CLIENTS }, () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(GET);
    return text(socket).catch(String);
  });
  // The system has connected them, and the server has had no turn to accept one.
  await new Promise<void>((done) => process.nextTick(done));
  await http[Symbol.asyncDispose]();
  const statuses = (await Promise.all(answers)).map((answer) => answer.slice(0, 12));
  expect(statuses).toEqual(Array(CLIENTS).fill('HTTP/1.1 200'));
});

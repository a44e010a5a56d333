import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'vitest';
import { bareServer } from '../support/bare-server.ts';

/** A client that can say half of something. */
async function opened(http: Awaited<ReturnType<typeof bareServer>>) {
  const { port } = new URL(await http.listen());
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

const HEAD = 'POST /threads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n';

test.each([
  ['says nothing', ''],
  ['is still writing its headers', HEAD],
  ['is still writing its body', `${HEAD}\r\n{"metadata":`],
  ['was answered before', 'GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['was answered before, and writes again', `GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n${HEAD}`],
])('the server closes although a client %s', async (_what, said) => {
  const http = await bareServer();
  const connected = once(http.server.server, 'connection');
  const socket = await opened(http);
  const [inside] = await connected;
  if (said !== '') {
    const heard = once(inside, 'data');
    socket.write(said);
    await heard;
  }
  const ended = text(socket).catch(() => '');
  await http[Symbol.asyncDispose]();
  await ended;
});

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { bareServer } from '../support/bare-server.ts';
import { naming } from '../support/naming.ts';
import { until } from '../support/until.ts';

const MEGABYTE = 1024 ** 2;
const RESPONSE_BYTES = 16 * MEGABYTE;
const THREAD = '00000000-0000-4000-8000-000000000001';

/** A server whose threads are larger than what the buffers of a connection take; `budget` in responses. */
async function largeThreads(budget: number) {
  const thread = { thread_id: THREAD, metadata: { text: 'x'.repeat(RESPONSE_BYTES) } };
  const http = await bareServer({
    services: { threads: { get: async () => thread, create: async () => thread, count: async () => 7 } },
    options: { send_budget: budget * (RESPONSE_BYTES + 1024) },
  });
  const url = await http.listen();
  return { ...http, url, thread: `${url}/threads/${THREAD}` };
}

/** Requests something large, and reads no more than the head of the response. */
async function request(url: string): Promise<{ socket: Socket; head: string }> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  const head = chunk.subarray(0, chunk.indexOf('\r\n\r\n') + 4).toString();
  if (chunk.length > head.length) socket.unshift(chunk.subarray(head.length));
  return { socket, head };
}

const post = (url: string) => fetch(url, { method: 'POST', body: '{}' });

/** Reads the response to its end, a little in each turn of the event loop. Returns the bytes of its body. */
async function readSlowly({ socket, head }: { socket: Socket; head: string }): Promise<number> {
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
  let bytes = 0;
  for await (const chunk of socket) {
    bytes += chunk.length;
    if (bytes >= length) break;
    await new Promise(setImmediate);
  }
  return bytes;
}

test('responses that readers have begun arrive whole, and one beyond the budget is 503 with Retry-After', async () => {
  await using http = await largeThreads(3);
  const readers = [await request(http.thread), await request(http.thread), await request(http.thread)];
  for (const { head } of readers) expect(head).toMatch(/^HTTP\/1.1 200/);

  const refused = await fetch(http.thread);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await refused.json()).toEqual({ detail: naming('server.send_budget') });

  for (const bytes of await Promise.all(readers.map(readSlowly)))
    expect(bytes).toBeGreaterThan(RESPONSE_BYTES);
  expect((await fetch(http.thread)).status).toBe(200);
});

test('a list that is refused is not sent in place of the error', async () => {
  const rows = [1, 2].map((n) => ({ run_id: `${n}`, metadata: { text: 'x'.repeat(RESPONSE_BYTES) } }));
  await using http = await bareServer({
    services: { runs: { list: async () => rows } },
    options: { send_budget: RESPONSE_BYTES },
  });
  const url = `${await http.listen()}/threads/${THREAD}/runs`;
  const first = await request(url);
  expect(first.head).toMatch(/^HTTP\/1.1 200/);
  const refused = await fetch(url);
  expect([refused.status, await refused.json()]).toEqual([503, { detail: naming('server.send_budget') }]);
  first.socket.destroy();
});

test('a small response is sent although large ones use up the budget', async () => {
  await using http = await largeThreads(1);
  const { socket } = await request(http.thread);
  expect((await fetch(`${http.url}/ok`)).status).toBe(200);
  expect((await post(`${http.url}/threads/count`)).status).toBe(200);
  socket.destroy();
});

test('a request that creates a thread is answered whatever the budget is, because a repeated one would create another', async () => {
  await using http = await largeThreads(1);
  const { socket } = await request(http.thread);
  const created = await post(`${http.url}/threads`);
  expect([created.status, (await created.arrayBuffer()).byteLength > RESPONSE_BYTES]).toEqual([200, true]);
  socket.destroy();
});

test('a response that is larger than the budget is sent when no other waits', async () => {
  await using http = await largeThreads(0.5);
  const alone = await request(http.thread);
  expect(alone.head).toMatch(/^HTTP\/1.1 200/);
  expect((await fetch(http.thread)).status).toBe(503);
  expect(await readSlowly(alone)).toBeGreaterThan(RESPONSE_BYTES);
});

test('a client that goes away leaves its share of the budget to others', async () => {
  await using http = await largeThreads(1);
  (await request(http.thread)).socket.destroy();
  await until('the server notices', async () => (await fetch(http.thread)).status === 200);
});

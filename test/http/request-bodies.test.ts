import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { bareServer } from '../support/bare-server.ts';
import { naming } from '../support/naming.ts';
import { until } from '../support/until.ts';

const KB = 1024;

/** A server whose `POST /threads` answers when the test says so. */
async function patientServer(options: Parameters<typeof bareServer>[0] & object = {}) {
  const waiting: (() => void)[] = [];
  const create = () => new Promise((resolve) => waiting.push(() => resolve({})));
  const http = await bareServer({ services: { threads: { create } }, ...options });
  const url = await http.listen();
  return {
    ...http,
    url,
    waiting,
    post: (bytes: number) =>
      fetch(`${url}/threads`, {
        method: 'POST',
        body: JSON.stringify({ metadata: { a: 'x'.repeat(bytes) } }),
      }),
  };
}

test('a body over the limit is refused with the name of the setting, and the connection stays usable', async () => {
  await using http = await patientServer({ options: { body_limit: KB } });
  const socket = await open(http.url);
  socket.write(head(2 * KB));
  socket.write('x'.repeat(2 * KB));
  expect(await answer(socket)).toEqual(naming('HTTP/1.1 413', '1024 bytes', 'server.body_limit'));
  socket.write('GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(await answer(socket)).toMatch(/^HTTP\/1.1 200/);
  socket.destroy();
});

test('a chunked body is refused as soon as it exceeds the limit', async () => {
  await using http = await patientServer({ options: { body_limit: KB } });
  const socket = await open(http.url);
  socket.write('POST /threads HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
  for (let i = 0; i < 3; i++) socket.write(`200\r\n${'x'.repeat(512)}\r\n`);
  expect(await answer(socket)).toMatch(/^HTTP\/1.1 413/);
  socket.destroy();
});

test('large bodies over the shared budget get 503 with Retry-After, but small ones never do', async () => {
  await using http = await patientServer({ options: { body_limit: 300 * KB, body_budget: 400 * KB } });
  const first = http.post(250 * KB);
  await until('the body has come', () => http.waiting.length === 1);

  const refused = await http.post(250 * KB);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await refused.json()).toEqual({ detail: expect.stringContaining('large requests') });

  const small = Array.from({ length: 8 }, () => http.post(50 * KB));
  await until('all bodies have come', () => http.waiting.length === 9);
  for (const answerNow of http.waiting.splice(0)) answerNow();
  expect((await Promise.all([first, ...small])).map(({ status }) => status)).toEqual(Array(9).fill(200));

  const again = http.post(250 * KB);
  await until('the body has come', () => http.waiting.length === 1);
  http.waiting[0]?.();
  expect((await again).status).toBe(200);
});

test('an incomplete body of a disconnected client no longer counts towards the budget', async () => {
  await using http = await bareServer({
    services: { threads: { create: async () => ({}) } },
    options: { body_limit: 300 * KB, body_budget: 300 * KB },
  });
  const url = await http.listen();
  const body = JSON.stringify({ metadata: { a: 'x'.repeat(150 * KB) } });
  const post = async () => (await fetch(`${url}/threads`, { method: 'POST', body })).status;
  const socket = await open(url);
  socket.write(head(250 * KB));
  socket.write('x'.repeat(200 * KB));
  await until('half a body is in flight', async () => (await post()) === 503);
  socket.destroy();
  await until('it is no longer', async () => (await post()) === 200);
});

test('a body with too many values is refused before it is parsed', async () => {
  await using http = await patientServer({ options: { max_body_values: 1000 } });
  const many = `[${'1,'.repeat(1000)}1]`;
  const refused = await http.inject({
    method: 'POST',
    url: '/threads',
    payload: `{"metadata":{"a":${many}}}`,
  });
  expect([refused.statusCode, refused.json()]).toEqual([
    413,
    {
      detail: naming('1000 values', 'server.max_body_values'),
    },
  ]);
  const text = JSON.stringify(many.repeat(2));
  const taken = http.inject({ method: 'POST', url: '/threads', payload: `{"metadata":{"a":${text}}}` });
  await until('the body has come', () => http.waiting.length === 1);
  http.waiting[0]?.();
  expect((await taken).statusCode).toBe(200);
});

test('an empty list counts as one value of a body', async () => {
  await using http = await patientServer({ options: { max_body_values: 1000 } });
  const body = (members: number) => `{"metadata":{"a":[${'[],'.repeat(members)}1]}}`;
  const refused = await http.inject({ method: 'POST', url: '/threads', payload: body(1000) });
  expect(refused.statusCode).toBe(413);
  const taken = http.inject({ method: 'POST', url: '/threads', payload: body(900) });
  await until('the body has come', () => http.waiting.length === 1);
  http.waiting[0]?.();
  expect((await taken).statusCode).toBe(200);
});

const head = (length: number) =>
  `POST /threads HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}

async function answer(socket: Socket): Promise<string> {
  const [data] = await once(socket, 'data');
  return String(data);
}

import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

let app: Awaited<ReturnType<typeof openApp>>;
let port: number;
beforeAll(async () => {
  const LANGGRAPH_UI = '{"weather": "./weather-ui.tsx"}';
  app = await openApp({ graphs: ['echo', 'weather'], environment: { LANGGRAPH_UI } });
  ({ port } = await app.app.listen());
});
afterAll(() => app[Symbol.asyncDispose]());

/** The address goes out as it stands: clients tidy it up before they send it. */
async function raw(method: string, target: string, body = ''): Promise<{ status: number; text: string }> {
  const socket = connect(port, '127.0.0.1');
  const head = `Host: localhost\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}`;
  socket.write(`${method} ${target} HTTP/1.1\r\n${head}\r\n\r\n${body}`);
  const answer = await text(socket);
  return { status: Number(answer.split(' ')[1]), text: answer };
}

/** Of files that are near those that are served. */
const SECRET = /"dependencies"|root:x:|StateGraph\(|\.ts:graph/;

test.each([
  '/ui/../package.json',
  '/ui/weather/../../../package.json',
  '/ui/weather/..%2f..%2f..%2fpackage.json',
  '/ui/weather/%2e%2e%2f%2e%2e%2fpackage.json',
  '/ui/weather/..%5c..%5cpackage.json',
  '/ui/weather/entrypoint.js%00.css',
  '/ui/weather/%2fetc%2fpasswd',
  '/ui/%2e%2e/weather-ui.tsx',
  '/ui/..%2fweather/entrypoint.js',
  '/docs/static/../package.json',
  '/docs/static/..%2f..%2f..%2fpackage.json',
  '/docs/static/%2e%2e/%2e%2e/package.json',
  '/docs/static/..%252f..%252fpackage.json',
  '/docs/static/..%5c..%5cpackage.json',
  '/docs/static//etc/passwd',
  '/docs/static/%00',
  '/docs/static/index.html%00.png',
  '/docs/static/.',
  '/docs/../../etc/passwd',
  '//etc/passwd',
  '/./../etc/passwd',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/assistants/..%2f..%2fetc%2fpasswd/graph',
  '/mcp/..%2f..%2fetc%2fpasswd',
  '/a2a/..%2f..%2fetc%2fpasswd/.well-known/agent-card.json',
  '/.well-known/agent-card.json?assistant_id=../../etc/passwd',
  '/.well-known/../../etc/passwd',
  'http://localhost/../../etc/passwd',
])('path %s leads to no file of the machine', async (target) => {
  const { status, text } = await raw('GET', target);
  expect([status >= 400 && status < 500, SECRET.test(text)]).toEqual([true, false]);
});

test.each(['../../package.json', '/etc/passwd', '..%2fecho', 'echo\0', '.', '__proto__', 'constructor'])(
  'the id %j is not treated as a path',
  async (name) => {
    const asGraph = await raw('POST', '/assistants', JSON.stringify({ graph_id: name }));
    const asAssistant = await raw('POST', '/runs/wait', JSON.stringify({ assistant_id: name }));
    const asComponent = await raw('POST', `/ui/${encodeURIComponent(name)}`, '{"name":"weather"}');
    for (const { status, text } of [asGraph, asAssistant, asComponent]) {
      expect([status >= 400 && status < 500, SECRET.test(text)]).toEqual([true, false]);
    }
  },
);

test.each(['/', '/etc', '%2e%2e', 'a\0b', '__proto__', 'constructor', 'toString'])(
  'the store accepts the name %j like any other',
  async (name) => {
    const put = await app.send('PUT', '/store/items', {
      namespace: ['names', name],
      key: name,
      value: { a: 1 },
    });
    expect(put.status).toBe(204);
    const query = new URLSearchParams({ namespace: `names.${name}`, key: name });
    const kept = name.replace('\0', '\uFFFD');
    const search = await app.post('/store/items/search', { namespace_prefix: ['names', kept] });
    expect(search.body.items).toMatchObject([{ namespace: ['names', kept], key: kept, value: { a: 1 } }]);
    expect((await app.get(`/store/items?${query}`)).status).toBe(200);
    expect({}).not.toHaveProperty('a');
  },
);

test.each([
  ['an address of 100,000 characters', `/ok?${'a'.repeat(100_000)}`, '', 431],
  ['a name of 5,000 characters', `/threads/${'x'.repeat(5000)}`, '', 400],
  ['5,000 headers', '/ok', Array.from({ length: 5000 }, (_, i) => `X-${i}: 1\r\n`).join(''), 431],
  ['a header of 20,000 characters', '/ok', `X-Long: ${'x'.repeat(20_000)}\r\n`, 431],
  ['two lengths', '/ok', 'Content-Length: 1\r\nContent-Length: 2\r\n', 400],
  ['a length and chunks', '/ok', 'Content-Length: 1\r\nTransfer-Encoding: chunked\r\n', 400],
  ['a header with a line break', '/ok', 'X-A: b\nEvil: 1\r\n\0: 1\r\n', 400],
])('a request with %s is refused', async (_what, target, headers, status) => {
  const socket = connect(port, '127.0.0.1');
  // The server may have hung up before all of it is written.
  socket.on('error', () => {});
  socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`);
  expect(await text(socket).catch(String)).toMatch(new RegExp(`^HTTP/1.1 ${status} .*"detail"`, 's'));
});

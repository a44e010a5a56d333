import { createServer, request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { openEgress } from '../../../src/extensions/deployments/build/process/egress.ts';
import { upstreamProxy } from '../../../src/extensions/deployments/build/process/upstream-proxy.ts';

/** A proxy with a password that leads everything to one server, which answers with the path. */
async function upstream() {
  const asked: string[] = [];
  const isKnown = (credentials: string | undefined) =>
    credentials === `Basic ${Buffer.from('ann:p@ss').toString('base64')}`;
  const server = createServer(({ url = '', headers }, response) => {
    const isProxied = url.startsWith('http:');
    if (isProxied) asked.push(url);
    const isRefused = isProxied && !isKnown(headers['proxy-authorization']);
    response.writeHead(isRefused ? 407 : 200).end(isProxied ? 'by the proxy' : url);
  });
  server.on('connect', ({ url = '', headers }, client) => {
    asked.push(url);
    if (!isKnown(headers['proxy-authorization']))
      return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    client.write('HTTP/1.1 200 OK\r\n\r\n');
    client.pipe(connect((server.address() as AddressInfo).port, '127.0.0.1')).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    port,
    url: `http://ann:p%40ss@127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function egress(env: Record<string, string>, refused: string[] = []) {
  const checked: string[] = [];
  const opened = await openEgress({
    checkAddress: async ({ hostname, port }) => {
      checked.push(`${hostname}:${port || 443}`);
      if (hostname === 'secret.test') throw new Error('is private');
      return '127.0.0.1';
    },
    onRefused: (host, reason) => refused.push(`${host}: ${reason}`),
    upstream: upstreamProxy(env) ?? expect.unreachable(),
  });
  return { ...opened, checked, socketPath: join(opened.folder, 'proxy') };
}

/** Status of the answer to `CONNECT`; if it is 200, what the other end then answers to `GET /inner`. */
function tunnel(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method: 'CONNECT', path });
    asked.on('error', reject).on('connect', ({ statusCode }, socket) => {
      if (statusCode !== 200) return resolve(`${statusCode}`);
      let text = '';
      socket.on('data', (part) => {
        text += part;
      });
      socket.on('end', () => resolve(text.split('\r\n\r\n')[1] ?? ''));
      socket.write('GET /inner HTTP/1.0\r\nhost: x\r\nconnection: close\r\n\r\n');
    });
    asked.end();
  });
}

function get(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path }, (answer) => {
      let text = '';
      answer.on('data', (part) => {
        text += part;
      });
      answer.on('end', () => resolve(`${answer.statusCode} ${text}`));
    });
    asked.on('error', reject).end();
  });
}

test('a build connects through the proxy of the server, which is told names and its password', async () => {
  await using proxy = await upstream();
  using build = await egress({ HTTPS_PROXY: proxy.url, http_proxy: proxy.url });
  expect(await tunnel(build.socketPath, 'registry.test:443')).toBe('/inner');
  expect(await get(build.socketPath, 'http://registry.test/ms?x=1')).toBe('200 by the proxy');
  expect(proxy.asked).toEqual(['registry.test:443', 'http://registry.test/ms?x=1']);
  expect(build.checked).toEqual(['registry.test:443', 'registry.test:80']);
  expect(JSON.stringify(build.env)).not.toContain('p%40ss');
});

test('a password of the proxy with a percent sign that encodes nothing is sent as it is', async () => {
  await using proxy = await upstream();
  const refused: string[] = [];
  const url = `http://ann:100%@127.0.0.1:${proxy.port}`;
  using build = await egress({ HTTPS_PROXY: url, HTTP_PROXY: url }, refused);
  expect(await get(build.socketPath, 'http://registry.test/')).toMatch(/^407/);
  expect(await tunnel(build.socketPath, 'registry.test:443')).toBe('502');
  expect(refused).toEqual([expect.stringMatching(/407/)]);
});

test('the proxy of the server is not asked about a host that the build may not reach', async () => {
  await using proxy = await upstream();
  const refused: string[] = [];
  using build = await egress({ HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url }, refused);
  expect(await tunnel(build.socketPath, 'secret.test:443')).toBe('403');
  expect(await get(build.socketPath, 'http://secret.test/')).toBe('403 ');
  expect(proxy.asked).toEqual([]);
  expect(refused).toHaveLength(2);
});

test('what the proxy of the server refuses is refused, and reported', async () => {
  await using proxy = await upstream();
  const refused: string[] = [];
  using build = await egress({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }, refused);
  expect(await tunnel(build.socketPath, 'registry.test:443')).toBe('502');
  expect(refused).toEqual([expect.stringMatching(/^registry\.test:443: .*407/)]);
});

test('a host of NO_PROXY is connected to directly', async () => {
  await using proxy = await upstream();
  await using direct = await upstream();
  using build = await egress({ ALL_PROXY: proxy.url, NO_PROXY: 'other.test, .direct.test' });
  expect(await tunnel(build.socketPath, `npm.direct.test:${direct.port}`)).toBe('/inner');
  expect(await get(build.socketPath, `http://direct.test:${direct.port}/x`)).toBe('200 /x');
  expect(proxy.asked).toEqual([]);
});

test('a request that announces trailers gets its answer', async () => {
  await using other = await upstream();
  using build = await egress({});
  const socket = connect(build.socketPath);
  socket.write(
    `GET http://other.test:${other.port}/x HTTP/1.1\r\nhost: other.test\r\ntrailer: x\r\nconnection: close\r\n\r\n`,
  );
  expect(await text(socket)).toMatch(/^HTTP\/1.1 200 .*\/x/s);
});

test.each([
  ['that announces trailers', '200 OK\r\nTrailer: x', '200 hello'],
  ['with a status that HTTP does not have', '099 Odd', '502 '],
])('an answer %s does not stop the server', async (_, head, expected) => {
  const written = `HTTP/1.1 ${head}\r\ncontent-length: 5\r\n\r\nhello`;
  const odd = createTcpServer((socket) => socket.once('data', () => socket.end(written)));
  await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void odd.close());
  using build = await egress({});
  const { port } = odd.address() as AddressInfo;
  expect(await get(build.socketPath, `http://odd.test:${port}/`)).toBe(expected);
});

test.each([
  ['*', true],
  ['a.test', true],
  ['.test', true],
  ['*.test', true],
  ['a.test:443', true],
  ['a.test:80', false],
  ['st', false],
  ['b.a.test', false],
])('the entry %s of NO_PROXY covers a.test: %s', (no_proxy, isCovered) => {
  const proxy = upstreamProxy({ https_proxy: 'proxy.test:3128', no_proxy });
  const found = proxy?.({ scheme: 'https', hostname: 'a.test', port: 443 });
  expect(found?.href).toBe(isCovered ? undefined : 'http://proxy.test:3128/');
});

test('a proxy that is not one of HTTP cannot be used', () => {
  expect(upstreamProxy({ ALL_PROXY: 'socks5://127.0.0.1:1080' })).toBeUndefined();
  expect(upstreamProxy({ HTTPS_PROXY: 'http://' })).toBeUndefined();
});

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/db/engines/sqlite.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { ResolveHost } from '../../src/services/webhooks/webhook-policy.ts';
import { dispatching } from '../support/dispatching.ts';
import { project } from '../support/project.ts';
import { receiver } from '../support/receiver.ts';

const TLS = join(import.meta.dirname, '../fixtures/tls');
const SELF_SIGNED = { key: readFileSync(join(TLS, 'key.pem')), cert: readFileSync(join(TLS, 'cert.pem')) };

/** A dispatcher over an empty file. */
async function story(options: Parameters<typeof dispatching>[1] = {}) {
  const folder = await project({});
  const db = openSqlite(folder.path('server.db'), { synchronous: 'normal' });
  await migrate(db);
  const open = dispatching(db, options);
  return {
    ...open,
    /** What becomes of a delivery to this address. */
    async send(url: string) {
      const delivery_id = await open.enqueue({ url });
      await open.turn();
      return open.look(delivery_id);
    },
    async [Symbol.asyncDispose]() {
      await open.dispatcher.stop(0);
      await db[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A port of this machine on which nobody listens. */
async function closedPort(): Promise<string> {
  await using hook = await receiver();
  return hook.url;
}

test.each([200, 201, 202, 204, 299])('%i is a delivery', async (status) => {
  await using hook = await receiver();
  await using to = await story();
  hook.answers.push(status);
  expect(await to.send(hook.url)).toMatchObject({ status: 'delivered' });
});

test.each([408, 425, 429, 500, 502, 503, 504, 599])('%i is tried again', async (status) => {
  await using hook = await receiver();
  await using to = await story();
  hook.answers.push((_request, response) => response.writeHead(status).end('busy'));
  expect(await to.send(hook.url)).toMatchObject({
    status: 'pending',
    attempts: [{ status_code: status, error: `answered ${status}`, answer: 'busy' }],
  });
});

test.each([200, 503])(
  'the headers of an answer of %i are stored with the try, without secrets',
  async (status) => {
    await using hook = await receiver();
    await using to = await story();
    hook.answers.push((_request, response) => {
      response.sendDate = false;
      response.setHeader('X-Request-Id', 'r-17');
      response.setHeader('Set-Cookie', ['sid=abc', 'b=c']);
      response.setHeader('Proxy-Authorization', 'Basic abc');
      response.setHeader('X-Auth-Token', 'abc');
      response.setHeader('Via', 'Bearer abcdefghijk');
      response.setHeader('Vary', ['accept', 'origin']);
      response.writeHead(status, { connection: 'close', 'content-length': 0 }).end();
    });
    expect((await to.send(hook.url)).attempts).toMatchObject([
      {
        answer_headers: {
          'x-request-id': 'r-17',
          'set-cookie': '***',
          'proxy-authorization': '***',
          'x-auth-token': '***',
          via: 'Bearer ***',
          vary: expect.stringMatching(/^accept, ?origin$/),
        },
      },
    ]);
  },
);

test('of many and of long headers of an answer only the first are stored', async () => {
  await using hook = await receiver();
  await using to = await story();
  hook.answers.push((_request, response) => {
    for (let n = 0; n < 9; n += 1) response.setHeader(`x-long-${n}`, 'ä'.repeat(1500));
    response.writeHead(503).end();
  });
  const [attempt] = (await to.send(hook.url)).attempts;
  expect(Object.keys(attempt?.answer_headers ?? {})).toEqual(['x-long-0', 'x-long-1', 'x-long-2']);
  expect(Buffer.byteLength(JSON.stringify(attempt?.answer_headers))).toBeLessThan(4200);
});

test('a try without an answer has no headers', async () => {
  await using to = await story();
  expect(await to.send(await closedPort())).toMatchObject({ attempts: [{ answer_headers: null }] });
});

test.each([300, 304, 400, 401, 403, 404, 405, 410, 413, 422])('%i is a refusal for good', async (status) => {
  await using hook = await receiver();
  await using to = await story();
  hook.answers.push(status);
  expect(await to.send(hook.url)).toMatchObject({ status: 'dead', attempts: [{ status_code: status }] });
});

test.each([
  ['seconds', '120', 120_000],
  ['a date', 'Fri, 20 Nov 2026 12:02:00 GMT', 119_500],
  ['a date that is over', 'Fri, 20 Nov 2026 11:00:00 GMT', 1000],
  ['less than the backoff', '0', 1000],
  ['nonsense', 'soon', 1000],
])('a receiver that asks for time gets it: %s', async (_form, header, wait_ms) => {
  await using hook = await receiver();
  await using to = await story();
  hook.answers.push((_request, response) => response.writeHead(429, { 'retry-after': header }).end());
  const since = performance.now();
  await to.send(hook.url);
  const difference_ms = Math.abs((await to.waits()) - wait_ms);
  expect(difference_ms).toBeLessThan(900 + performance.now() - since);
});

test('a receiver that does not answer is tried again', async () => {
  await using hook = await receiver();
  await using to = await story({ timeout_ms: 100 });
  hook.answers.push(() => {});
  expect(await to.send(hook.url)).toMatchObject({
    status: 'pending',
    attempts: [{ status_code: null, error: 'not reached: no answer in time' }],
  });
});

test('a receiver that is not there is tried again', async () => {
  await using to = await story();
  expect(await to.send(await closedPort())).toMatchObject({
    status: 'pending',
    attempts: [{ error: 'not reached: ECONNREFUSED' }],
  });
});

test('a receiver that hangs up is tried again', async () => {
  await using hook = await receiver();
  await using to = await story();
  hook.answers.push((request) => request.socket.destroy());
  expect(await to.send(hook.url)).toMatchObject({ status: 'pending', attempts: [{ status_code: null }] });
});

test('an answer without end is not read, and counts', async () => {
  await using hook = await receiver();
  await using to = await story();
  let cut: Promise<void> | undefined;
  hook.answers.push((_request, response) => {
    cut = new Promise((closed) => response.on('close', () => closed()));
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
    };
    response.writeHead(500).on('drain', more);
    more();
  });
  const { status, attempts } = await to.send(hook.url);
  await cut;
  expect(status).toBe('pending');
  expect(attempts[0]?.answer).toHaveLength(1024);
});

test('an answer that breaks off counts for its status', async () => {
  await using hook = await receiver();
  await using to = await story();
  hook.answers.push((request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half', () => request.socket.destroy());
  });
  expect(await to.send(hook.url)).toMatchObject({ status: 'delivered' });
});

test.each([307, 308])('%i is followed on the same host, with the body', async (status) => {
  await using hook = await receiver();
  await using to = await story();
  hook.answers.push((_request, response) => response.writeHead(status, { location: '/moved?a=1' }).end());
  expect(await to.send(`${hook.url}/old`)).toMatchObject({ status: 'delivered' });
  expect(hook.received).toMatchObject([
    { path: '/old', body: { n: 1 } },
    { path: '/moved?a=1', body: { n: 1 } },
  ]);
});

test.each([
  ['another host', 307, (url: string) => url.replace('127.0.0.1', 'localhost')],
  ['another port', 307, (url: string) => url.replace(/:\d+/, ':9')],
  ['an address that must not be called', 308, () => 'http://169.254.169.254/latest'],
  ['another scheme', 307, () => 'file:///etc/passwd'],
  ['what would become a GET', 302, () => '/moved'],
])('a redirect to %s is not followed', async (_where, status, location) => {
  await using hook = await receiver();
  await using to = await story();
  hook.answers.push((_request, response) =>
    response.writeHead(status, { location: location(hook.url) }).end(),
  );
  expect(await to.send(hook.url)).toMatchObject({
    status: 'dead',
    attempts: [{ error: `answered ${status}: redirects are not followed` }],
  });
  expect(hook.received).toHaveLength(1);
});

test('a redirect in a circle comes to an end', async () => {
  await using hook = await receiver();
  await using to = await story();
  for (let i = 0; i < 9; i++)
    hook.answers.push((_request, response) => response.writeHead(307, { location: '/' }).end());
  expect(await to.send(hook.url)).toMatchObject({ status: 'dead' });
  expect(hook.received).toHaveLength(4);
});

test('a name that has come to lead to this machine since is not called', async () => {
  await using hook = await receiver();
  let connections = 0;
  await using trap = await receiver({ onConnection: () => connections++ });
  const answers = [['93.184.216.34'], ['127.0.0.1']];
  const rebinding: ResolveHost = async () => answers.shift() ?? ['127.0.0.1'];
  await using to = await story({ policy: { disable_loopback: true }, resolve: rebinding });
  const url = trap.url.replace('127.0.0.1', 'rebound.example');
  await rebinding('rebound.example', 1000);

  const { status, attempts } = await to.send(url);

  expect(status).toBe('dead');
  expect(attempts[0]?.error).toMatch(/^Webhook host blocked: loopback IP range \(rebound\.example\)/);
  expect(connections).toBe(0);
  expect(await to.send(hook.url)).toMatchObject({ status: 'dead' });
  expect(hook.received).toEqual([]);
});

test('of the addresses of a name only those are called that may be', async () => {
  await using hook = await receiver();
  await using to = await story({ resolve: async () => ['10.255.255.1', '127.0.0.1'] });
  expect(await to.send(hook.url.replace('127.0.0.1', 'both.example'))).toMatchObject({ status: 'delivered' });
});

test('a name that does not resolve is tried again', async () => {
  const away: ResolveHost = async () => {
    throw Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' });
  };
  await using to = await story({ resolve: away });
  expect(await to.send('https://away.example/')).toMatchObject({
    status: 'pending',
    attempts: [{ error: 'not reached: EAI_AGAIN' }],
  });
});

test('user and password of an address are sent as such, and shown to nobody', async () => {
  await using hook = await receiver();
  await using to = await story();
  const { url } = await to.send(`${hook.url.replace('//', '//an%20a:p%zz@')}/hook?token=s3cret`);
  expect(hook.received[0]).toMatchObject({ path: '/hook?token=s3cret' });
  expect(hook.received[0]?.headers['authorization']).toBe(
    `Basic ${Buffer.from('an a:p%zz').toString('base64')}`,
  );
  expect(url).toMatch(/^http:\/\/\*\*\*@127\.0\.0\.1:\d+\/hook\?token=\*\*\*$/);
  expect(JSON.stringify(to.log)).not.toContain('s3cret');
});

test('what cannot be sent is dead at once', async () => {
  await using hook = await receiver();
  await using to = await story();
  const delivery_id = await to.enqueue({ url: hook.url, headers: { 'x-bad': 'two\nlines' } });
  await to.turn();
  expect(await to.look(delivery_id)).toMatchObject({
    status: 'dead',
    attempts: [{ error: 'not reached: UND_ERR_INVALID_ARG' }],
  });
});

test('a receiver must prove who it is', async () => {
  const { key, cert } = SELF_SIGNED;
  const server = createServer({ key, cert }, (_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using to = await story();
  const { port } = server.address() as AddressInfo;
  const { status, attempts } = await to.send(`https://receiver.example:${port}/`);
  server.close();
  expect(status).toBe('pending');
  expect(attempts[0]?.error).toBe('not reached: DEPTH_ZERO_SELF_SIGNED_CERT');
});

test('a delivery that may be tried once is dead after that', async () => {
  await using hook = await receiver();
  await using to = await story();
  hook.answers.push(500);
  const delivery_id = await to.enqueue({ url: hook.url, max_tries: 1 });
  await to.turn();
  expect(await to.look(delivery_id)).toMatchObject({ status: 'dead', attempts: [{ status_code: 500 }] });
});

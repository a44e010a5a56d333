import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ResolveHost } from '../../src/services/webhooks/webhook-policy.ts';
import { dispatchingAlone } from '../support/dispatching.ts';
import { naming } from '../support/naming.ts';
import { receiver } from '../support/receiver.ts';

const TLS = join(import.meta.dirname, '../fixtures/tls');
const SELF_SIGNED = { key: readFileSync(join(TLS, 'key.pem')), cert: readFileSync(join(TLS, 'cert.pem')) };

test.each([307, 308])('redirect %i is followed on the same host, with the body', async (status) => {
  await using hook = await receiver();
  await using to = await dispatchingAlone();
  hook.answers.push((_request, response) => response.writeHead(status, { location: '/moved?a=1' }).end());
  expect(await to.send(`${hook.url}/old`)).toMatchObject({ status: 'delivered' });
  expect(hook.received).toMatchObject([
    { path: '/old', body: { n: 1 } },
    { path: '/moved?a=1', body: { n: 1 } },
  ]);
});

test.each([
  ['another host', 307, 'another host', (url: string) => url.replace('127.0.0.1', 'localhost')],
  ['another port', 307, 'another port', (url: string) => url.replace(/:\d+/, ':9')],
  ['an address that must not be called', 308, 'another host', () => 'http://169.254.169.254/latest'],
  ['another scheme', 307, 'another host', () => 'file:///etc/passwd'],
  ['an invalid address', 307, 'invalid', () => 'http://['],
  ['what would become a GET', 302, '307 or 308', () => '/moved'],
])(
  'a webhook redirect to %s is not followed, and the error has the reason',
  async (_to, status, reason, location) => {
    await using hook = await receiver();
    await using to = await dispatchingAlone();
    hook.answers.push((_request, response) =>
      response.writeHead(status, { location: location(hook.url) }).end(),
    );
    expect(await to.send(hook.url)).toMatchObject({
      status: 'dead',
      attempts: [{ error: naming(`answered ${status}: `, reason) }],
    });
    expect(hook.received).toHaveLength(1);
  },
);

test('a circular webhook redirect ends the delivery with the limit in the error', async () => {
  await using hook = await receiver();
  await using to = await dispatchingAlone();
  for (let i = 0; i < 9; i++)
    hook.answers.push((_request, response) => response.writeHead(307, { location: '/' }).end());
  expect(await to.send(hook.url)).toMatchObject({
    status: 'dead',
    attempts: [{ error: naming('answered 307: ', 'more than 3 redirects') }],
  });
  expect(hook.received).toHaveLength(4);
});

test('a webhook host that has come to resolve to this machine is not called', async () => {
  await using hook = await receiver();
  let connections = 0;
  await using trap = await receiver({ onConnection: () => connections++ });
  const answers = [['93.184.216.34'], ['127.0.0.1']];
  const rebinding: ResolveHost = async () => answers.shift() ?? ['127.0.0.1'];
  await using to = await dispatchingAlone({ policy: { disable_loopback: true }, resolve: rebinding });
  const url = trap.url.replace('127.0.0.1', 'rebound.example');
  await rebinding('rebound.example', 1000);

  const { status, attempts } = await to.send(url);

  expect(status).toBe('dead');
  expect(attempts[0]?.error).toMatch(/^Webhook host blocked: loopback IP range \(rebound\.example\)/);
  expect(connections).toBe(0);
  expect(await to.send(hook.url)).toMatchObject({ status: 'dead' });
  expect(hook.received).toEqual([]);
});

test('only allowed addresses of a webhook host are called', async () => {
  await using hook = await receiver();
  await using to = await dispatchingAlone({ resolve: async () => ['10.255.255.1', '127.0.0.1'] });
  expect(await to.send(hook.url.replace('127.0.0.1', 'both.example'))).toMatchObject({ status: 'delivered' });
});

test('a webhook to a host that does not resolve is retried', async () => {
  const away: ResolveHost = async () => {
    throw Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' });
  };
  await using to = await dispatchingAlone({ resolve: away });
  expect(await to.send('https://away.example/')).toMatchObject({
    status: 'pending',
    attempts: [{ error: 'not reached: EAI_AGAIN' }],
  });
});

test('user and password of a webhook URL are sent as Authorization, and never shown', async () => {
  await using hook = await receiver();
  await using to = await dispatchingAlone();
  const { url } = await to.send(`${hook.url.replace('//', '//an%20a:p%zz@')}/hook?token=s3cret`);
  expect(hook.received[0]).toMatchObject({ path: '/hook?token=s3cret' });
  expect(hook.received[0]?.headers['authorization']).toBe(
    `Basic ${Buffer.from('an a:p%zz').toString('base64')}`,
  );
  expect(url).toMatch(/^http:\/\/\*\*\*@127\.0\.0\.1:\d+\/hook\?token=\*\*\*$/);
  expect(JSON.stringify(to.log)).not.toContain('s3cret');
});

test('a delivery to a receiver with a self-signed certificate fails', async () => {
  const { key, cert } = SELF_SIGNED;
  const server = createServer({ key, cert }, (_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using to = await dispatchingAlone();
  const { port } = server.address() as AddressInfo;
  const { status, attempts } = await to.send(`https://receiver.example:${port}/`);
  server.close();
  expect(status).toBe('pending');
  expect(attempts[0]?.error).toBe('not reached: DEPTH_ZERO_SELF_SIGNED_CERT');
});

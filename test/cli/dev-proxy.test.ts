import { expect, test } from 'vitest';
import { DevProxy } from '../../src/cli/dev/proxy.ts';
import { addressesOf } from '../../src/http/listen.ts';
import { StartFailure } from '../../src/node.ts';

/** Answers each request with 503. */
async function listening(host: string) {
  const proxy = new DevProxy();
  await proxy.listenAt({ host, port: 0 });
  proxy.routeTo({ refusal: 'not yet', retry_after: 1 });
  return { proxy, port: Number(new URL(proxy.url).port), [Symbol.dispose]: () => proxy[Symbol.dispose]() };
}

const statusAt = async (host: string, port: number) => (await fetch(`http://${host}:${port}/ok`)).status;

test('dev moves from one address to all of the machine at the same port', async () => {
  using server = await listening('127.0.0.1');
  const { proxy, port } = server;

  await proxy.listenAt({ host: '0.0.0.0', port });

  expect(proxy.url).toBe(`http://0.0.0.0:${port}`);
  expect(await statusAt('127.0.0.2', port)).toBe(503);
});

test('dev stays at its address if a new one at the same port is not of this machine', async () => {
  using server = await listening('127.0.0.1');
  const { proxy, port } = server;

  await expect(proxy.listenAt({ host: '192.0.2.1', port })).rejects.toThrow(StartFailure);

  expect(proxy.url).toBe(`http://127.0.0.1:${port}`);
  expect(await statusAt('127.0.0.1', port)).toBe(503);
});

test('dev listens on each address of localhost', async () => {
  using server = await listening('localhost');

  for (const address of await addressesOf('localhost')) {
    const host = address.includes(':') ? `[${address}]` : address;
    expect([address, await statusAt(host, server.port)]).toEqual([address, 503]);
  }
});

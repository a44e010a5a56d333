import { expect, test } from 'vitest';
import { HostLost } from '../../src/core/errors.ts';
import type { Host } from '../../src/hosts/pool/host.ts';
import type { HostPool } from '../../src/hosts/pool/pool.ts';
import { readFrom } from '../../src/hosts/pool/read.ts';

/** Two hosts. The first ends during the request; `is_outside_runs`: because of the request. */
function pool(is_outside_runs: boolean) {
  const failure = new Error('the connection is closed');
  const ended = { is_outside_runs, errorFor: () => new HostLost('The graph host ended.') };
  const first = { number: 1, peer: { failure }, ended: Promise.resolve(ended) } as unknown as Host;
  const second = { number: 2, peer: {} } as unknown as Host;
  const take = async ({ except }: { except?: Host }) => (except === first ? second : first);
  const asked: number[] = [];
  const read = async ({ number }: Host) => {
    asked.push(number);
    if (number === 1) throw failure;
    return 'the state';
  };
  return { pool: { take } as unknown as HostPool, read, asked };
}

test('a request for a state whose host a run ends is answered by another host', async () => {
  const { pool: hosts, read, asked } = pool(false);

  expect(await readFrom(hosts, {}, read)).toBe('the state');
  expect(asked).toEqual([1, 2]);
});

test('a request for a state that ends its host itself is not repeated, and the client is told to ask again', async () => {
  const { pool: hosts, read, asked } = pool(true);

  await expect(readFrom(hosts, {}, read)).rejects.toMatchObject({ status: 503 });
  expect(asked).toEqual([1]);
});

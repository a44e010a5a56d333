import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { WATCH_FD } from '../../src/hosts/protocol/descriptors.ts';

/** They do not end by themselves if something is wrong. */
const ENDS = { timeout: 50_000, killSignal: 'SIGKILL' } as const;
const FIXTURES = resolve(import.meta.dirname, '../fixtures/watching');

test('a host whose blocked source location cannot be read in time is kept, and read again', async () => {
  const child = spawn(process.execPath, [join(FIXTURES, 'host.ts')], {
    ...ENDS,
    stdio: ['ignore', 'ignore', 'inherit', 'ignore', 'pipe'],
  });
  const link = child.stdio[WATCH_FD] as Duplex;
  const answers = createInterface(link)[Symbol.asyncIterator]();
  for (let asked = 0; asked < 3; asked++) {
    link.write('locate\n');
    const { value, done } = await answers.next();
    expect([done, JSON.parse(value ?? '{}')]).toMatchObject([false, { rss_bytes: expect.any(Number) }]);
  }
  child.kill('SIGKILL');
});

test('a server whose event loop recovers while the watchdog reads the blocked location is not ended', async () => {
  const child = spawn(process.execPath, [join(FIXTURES, 'server.ts')], {
    ...ENDS,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
});

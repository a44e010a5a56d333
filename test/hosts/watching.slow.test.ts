import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { WATCH_FD } from '../../src/hosts/protocol/descriptors.ts';
import { until } from '../support/until.ts';

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

test('a blocked host that does not report its location in time is not asked again at once', async () => {
  const child = spawn(process.execPath, [join(FIXTURES, 'blocked-host.ts')], {
    ...ENDS,
    stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'pipe'],
  });
  const link = child.stdio[WATCH_FD] as Duplex;
  const answers = createInterface(link)[Symbol.asyncIterator]();
  const ping = async (): Promise<{ readonly blocked_ms: number }> => {
    link.write('ping\n');
    return JSON.parse((await answers.next()).value ?? '{}');
  };
  await until('it is blocked', async () => (await ping()).blocked_ms > 0);
  for (let pings = 0; pings < 3; pings++) expect((await ping()).blocked_ms).toBeGreaterThan(0);
  child.kill('SIGKILL');

  // On a busy machine the one question may have been taken back before it arrived.
  expect(['', 'asked\n']).toContain(await text(child.stdout as Readable));
});

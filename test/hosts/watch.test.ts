import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchHost } from '../../src/hosts/pool/watch.ts';
import type { HostStatus } from '../../src/hosts/protocol/watch.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const STATUS: HostStatus = { blocked_ms: 0, turns: 1, rss_bytes: 1 };

test('a host counts as frozen when it stops answering, and not while it has yet to start', async () => {
  const [ours, theirs] = duplexPair();
  theirs.resume();
  const onFrozen = vi.fn();
  const onStatus = vi.fn();
  using _watch = watchHost(ours as unknown as Socket, { onStatus, onFrozen });

  vi.advanceTimersByTime(120_000);
  expect(onFrozen).not.toHaveBeenCalled();

  theirs.write(`${JSON.stringify(STATUS)}\n`);
  while (onStatus.mock.calls.length === 0) await turn();
  vi.advanceTimersByTime(9_000);
  expect(onFrozen).not.toHaveBeenCalled();
  vi.advanceTimersByTime(3_000);
  expect(onFrozen).toHaveBeenCalled();
});

import { spawn } from 'node:child_process';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { HostPool } from '../../src/hosts/pool/pool.ts';
import { project } from '../support/project.ts';
import { recordingLogger } from '../support/recording-logger.ts';

vi.mock('node:child_process', async (load) => {
  const actual = await load<typeof import('node:child_process')>();
  return { ...actual, spawn: vi.fn(actual.spawn) };
});

// The delay before a host is started again.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('after a reload, all hosts are started, although one was still to be started again', async () => {
  await using code = await project({});
  const failed = Promise.withResolvers<void>();
  await using pool = new HostPool({
    count: 4,
    project: { root: code.root, graphs: [] },
    env: process.env,
    logger: recordingLogger('error', ({ message }) => {
      if (message.includes('cannot be started')) failed.resolve();
    }),
    clock: systemClock,
  });
  const ready = () => pool.hosts.filter(({ isReady }) => isReady).map(({ number }) => number);
  await vi.waitFor(() => expect(ready()).toEqual([1, 2, 3, 4]), 90_000);
  vi.mocked(spawn).mockImplementationOnce(() => {
    throw new Error('spawn ENOMEM');
  });
  process.kill(pool.hosts[3]?.pid as number, 'SIGKILL');
  await failed.promise;
  await pool.reload();
  vi.advanceTimersByTime(10_000);
  await vi.waitFor(() => expect(ready()).toEqual([1, 2, 3, 4]), 90_000);
}, 200_000);

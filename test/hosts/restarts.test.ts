import { ChildProcess, spawn } from 'node:child_process';
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

const FAILURES: readonly [string, () => ChildProcess][] = [
  [
    'there is no memory',
    () => {
      throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' });
    },
  ],
  [
    'too many files are open',
    () => {
      // As Node does: without pipes, and the error comes in the next turn.
      const child = new ChildProcess();
      process.nextTick(() => child.emit('error', new Error('spawn EMFILE')));
      return child;
    },
  ],
];

test.each(FAILURES)('a host that could not be started, as %s, is started again', async (_why, fail) => {
  await using code = await project({});
  const failed = Promise.withResolvers<void>();
  await using pool = new HostPool({
    count: 1,
    project: { root: code.root, graphs: [] },
    env: process.env,
    logger: recordingLogger('error', ({ message }) => {
      if (message.includes('cannot be started')) failed.resolve();
    }),
    clock: systemClock,
  });
  const { pid } = await pool.take();
  vi.mocked(spawn).mockImplementationOnce(fail);
  process.kill(pid as number, 'SIGKILL');
  await failed.promise;
  expect(pool.hosts).toEqual([]);
  const next = pool.take();
  vi.advanceTimersByTime(10_000);
  expect(await next).toMatchObject({ number: 1, isReady: true });
});

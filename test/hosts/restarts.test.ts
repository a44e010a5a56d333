import { ChildProcess, spawn } from 'node:child_process';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { HostLost } from '../../src/core/errors.ts';
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

const LIMITS = [
  [
    'is charged',
    'memory',
    { max_memory_bytes: 1 },
    { charge: true, message: expect.stringContaining('more memory than') },
  ],
  ['is not charged', 'runs', { max_runs: 1 }, { charge: false }],
] as const;

test.each(LIMITS)(
  'a run that makes no checkpoint for a minute %s after its host reached its limit of %s',
  async (_charge, _what, limit, expected) => {
    await using code = await project({});
    const replaced = Promise.withResolvers<void>();
    let elapsed_ms = 0;
    await using pool = new HostPool({
      ...limit,
      count: 1,
      project: { root: code.root, graphs: [] },
      env: process.env,
      logger: recordingLogger('info', ({ message }) => {
        if (message.includes('is replaced')) replaced.resolve();
      }),
      clock: { ...systemClock, monotonic: () => elapsed_ms },
    });
    const host = await pool.take();
    const lost = Promise.withResolvers<HostLost>();
    const nothing = () => {};
    const run = { run_id: 'one', onEvents: nothing, onOutput: nothing, onEnd: nothing, onLost: lost.resolve };
    using _session = host.sessions.open({ run });
    host.runs = 1;
    // Old enough for the limit of memory.
    elapsed_ms = 20_000;
    await replaced.promise;
    vi.advanceTimersByTime(60_000);
    expect(await lost.promise).toMatchObject(expected);
  },
);

import { ChildProcess, spawn } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { HostLost } from '../../src/core/errors.ts';
import { recentEnds } from '../../src/hosts/pool/restarts.ts';
import { emptyPool, useFakeDelays } from '../support/restarted-hosts.ts';

vi.mock('node:child_process', async (load) => {
  const actual = await load<typeof import('node:child_process')>();
  return { ...actual, spawn: vi.fn(actual.spawn) };
});
useFakeDelays();

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

test.each(FAILURES)('a host that could not be started (%s) is started again', async (_why, fail) => {
  await using opened = await emptyPool({ count: 1 });
  const { pool, logged } = opened;
  const { pid } = await pool.take();
  vi.mocked(spawn).mockImplementationOnce(fail);
  process.kill(pid as number, 'SIGKILL');
  await logged('cannot start a graph host');
  expect(pool.hosts).toEqual([]);
  const next = pool.take();
  vi.advanceTimersByTime(10_000);
  expect(await next).toMatchObject({ number: 1, isReady: true });
});

test('a run without a checkpoint for a minute is charged after its host has used too much memory', async () => {
  let elapsed_ms = 0;
  const clock = { ...systemClock, monotonic: () => elapsed_ms };
  await using opened = await emptyPool({ max_memory_bytes: 1, count: 1, clock });
  const { pool, logged } = opened;
  const host = await pool.take();
  const lost = Promise.withResolvers<HostLost>();
  const nothing = () => {};
  const run = { run_id: 'one', onEvents: nothing, onOutput: nothing, onEnd: nothing, onLost: lost.resolve };
  using _session = host.sessions.open({ run });
  elapsed_ms = 20_000;
  await logged('replacing a graph host');
  vi.advanceTimersByTime(60_000);
  expect(await lost.promise).toMatchObject({
    charge: true,
    message: expect.stringContaining('more memory than'),
  });
});

test('of hosts that loaded the project, ends count for half a minute; before that, all count', () => {
  expect(recentEnds([0, 50_000], 60_000, true)).toEqual([50_000, 60_000]);
  expect(recentEnds([0, 50_000], 60_000, false)).toEqual([0, 50_000, 60_000]);
});

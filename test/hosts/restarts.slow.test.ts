import { spawn } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import { emptyPool, useFakeDelays } from '../support/restarted-hosts.ts';

vi.mock('node:child_process', async (load) => {
  const actual = await load<typeof import('node:child_process')>();
  return { ...actual, spawn: vi.fn(actual.spawn) };
});
useFakeDelays();

test('a reload starts all hosts, even if one was waiting to be restarted', async () => {
  await using opened = await emptyPool({ count: 4 });
  const { pool, logged } = opened;
  const ready = () => pool.hosts.filter(({ isReady }) => isReady).map(({ number }) => number);
  await vi.waitFor(() => expect(ready()).toEqual([1, 2, 3, 4]), 90_000);
  vi.mocked(spawn).mockImplementationOnce(() => {
    throw new Error('spawn ENOMEM');
  });
  process.kill(pool.hosts[3]?.pid as number, 'SIGKILL');
  await logged('cannot start a graph host');
  await pool.reload(new AbortController().signal);
  vi.advanceTimersByTime(10_000);
  await vi.waitFor(() => expect(ready()).toEqual([1, 2, 3, 4]), 90_000);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { askHost } from '../../src/hosts/pool/ask.ts';
import type { Host } from '../../src/hosts/pool/host.ts';
import type { HostPool } from '../../src/hosts/pool/pool.ts';
import { recordingLogger } from '../support/recording-logger.ts';

const LIMITS = { limit_ms: 5_000, is_repeatable: true } as const;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Two hosts; the first never answers, and its event loop is blocked. */
function hosts(isBlockedByRun: boolean) {
  const common = { sessions: { open: () => ({ [Symbol.dispose]() {} }) }, giveUp() {}, peer: {} };
  const first = { ...common, number: 1, blocked_ms: 2_000, isBlockedByRun } as unknown as Host;
  const second = { ...common, number: 2, blocked_ms: 0, isBlockedByRun: false } as unknown as Host;
  const pool = {
    first: async () => first,
    firstBeside: (known: readonly Host[]) => [first, second].find((host) => !known.includes(host)),
  } as unknown as HostPool;
  const asked: number[] = [];
  const call = async ({ number }: Host) => {
    asked.push(number);
    return number === 1 ? new Promise<string>(() => {}) : 'the user';
  };
  return {
    asked,
    answer: askHost({ pool, logger: recordingLogger('error', () => {}) }, 'The handler', call, LIMITS),
  };
}

test('a call that may be repeated is answered by another host if a run blocks the first', async () => {
  const { asked, answer } = hosts(true);
  await vi.advanceTimersByTimeAsync(LIMITS.limit_ms);
  expect(await answer).toBe('the user');
  expect(asked).toEqual([1, 2]);
});

test('a call that may itself be what blocks its host is asked of no other one', async () => {
  const { asked, answer } = hosts(false);
  const refused = expect(answer).rejects.toMatchObject({ status: 503 });
  await vi.advanceTimersByTimeAsync(LIMITS.limit_ms);
  await refused;
  expect(asked).toEqual([1]);
});

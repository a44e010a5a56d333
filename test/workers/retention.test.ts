import { expect, test } from 'vitest';
import { silentLogger } from '../../src/core/logger.ts';
import { IDLE_SWEEP_MS, retentionTick, type Sweep } from '../../src/workers/maintenance.ts';

const MINUTE = 60_000;

/** Sweeps that find so many rows in each round. */
function rounds(sweeps: readonly (readonly number[])[], longest_ms?: number) {
  const found = sweeps.map((each) => [...each]);
  const asSweep =
    (rest: number[]): Sweep =>
    async (limit) =>
      Math.min(limit, rest.shift() ?? 0);
  return retentionTick({
    sweeps: found.map(asSweep),
    ...(longest_ms !== undefined && { longest_ms }),
    logger: silentLogger,
  });
}

test('sweeps that find nothing run less and less often, until one finds a row', async () => {
  const tick = rounds(
    [
      [1, 0, 0, 0, 0],
      [0, 0, 0, 0, 1, 0],
    ],
    IDLE_SWEEP_MS,
  );
  const delays: number[] = [];
  for (let round = 0; round < 6; round += 1) delays.push((await tick()) / MINUTE);
  expect(delays).toEqual([1, 2, 4, 5, 1, 2]);
});

test('sweeps of urgent rows run every minute', async () => {
  const tick = rounds([[]]);
  expect([await tick(), await tick(), await tick()]).toEqual([MINUTE, MINUTE, MINUTE]);
});

test('a sweep with more to delete continues at once', async () => {
  const tick = rounds([[], [1_000_000]]);
  expect([await tick(), await tick()]).toEqual([0, MINUTE]);
});

test('a failing sweep stops neither the others nor the next round', async () => {
  const swept: string[] = [];
  const tick = retentionTick({
    sweeps: [
      async () => {
        throw new Error('the disk is full');
      },
      async () => swept.push('other') * 0,
    ],
    longest_ms: IDLE_SWEEP_MS,
    logger: silentLogger,
  });
  expect([await tick(), await tick()]).toEqual([MINUTE, MINUTE]);
  expect(swept).toHaveLength(2);
});

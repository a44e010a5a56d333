import { expect, test } from 'vitest';
import { isBusy, nextTurn, yieldTurn } from '../../src/core/event-loop.ts';

const STEPS = 15;
const STEP_MS = 5;

function burn(): void {
  const end = performance.now() + STEP_MS;
  while (performance.now() < end);
}

test('work that never waits gives the event loop its turn, and goes on side by side', async () => {
  const steps: string[] = [];
  const work = async (name: string) => {
    for (let step = 0; step < STEPS; step++) {
      burn();
      steps.push(name);
      await yieldTurn();
    }
  };
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await Promise.all([work('a'), work('b'), work('c')]);
  clearInterval(timer);

  expect(turns).toBeGreaterThan(3);
  const rounds = Array.from({ length: STEPS }, (_, i) => steps.slice(i * 3, i * 3 + 3).sort());
  expect(rounds).toEqual(Array(STEPS).fill(['a', 'b', 'c']));
});

test('the event loop is busy from 20 ms after a turn was asked for until it comes', async () => {
  await nextTurn();
  expect(yieldTurn()).toBeUndefined();
  expect(isBusy()).toBe(false);
  for (let burnt = 0; burnt < 25; burnt += STEP_MS) burn();
  expect(isBusy()).toBe(true);
  await yieldTurn();
  expect(isBusy()).toBe(false);
});

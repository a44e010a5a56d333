import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { isEventLoopBusy, yieldToEventLoop } from '../../src/core/event-loop.ts';

/** Time passes only while a test works. */
let now = 0;
beforeEach(() => {
  now = Math.max(now, performance.now()) + 1000;
  vi.spyOn(systemClock, 'monotonic').mockImplementation(() => now);
});
afterEach(() => void vi.restoreAllMocks());

const nextTurn = () => new Promise(setImmediate);

function work(ms: number): void {
  now += ms;
}

/** How long each turn of the event loop worked while something was done, ms. */
async function turnsOf(work: () => Promise<unknown>): Promise<number[]> {
  const turns: number[] = [];
  let last = now;
  let isDone = false;
  const look = () => {
    turns.push(now - last);
    last = now;
    if (!isDone) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isDone = true;
  await nextTurn();
  return turns;
}

test('thousands of concurrent loops share turns of at most 20 ms, and resume in the order in which they waited', async () => {
  const order: number[] = [];
  /** The first step of all takes a whole slice: the others resume in a later turn. */
  const steps = async (index: number) => {
    if (index === 0) {
      expect(yieldToEventLoop()).toBeUndefined();
      work(20);
    }
    for (let step = 0; step < 3; step++) {
      await yieldToEventLoop();
      work(0.05);
    }
    order.push(index);
  };
  const count = 2000;
  const turns = await turnsOf(() => Promise.all(Array.from({ length: count }, (_, i) => steps(i))));
  expect(Math.max(...turns)).toBeLessThan(22);
  expect(turns.filter((ms) => ms > 0).length).toBeGreaterThanOrEqual((count * 3 * 0.05) / 22);
  expect(order).toHaveLength(count);
  expect(order.slice(1000)).toEqual(order.slice(1000).toSorted((a, b) => a - b));
});

test('yielding returns without waiting until a turn has lasted 20 ms', async () => {
  await nextTurn();
  expect([yieldToEventLoop(), yieldToEventLoop()]).toEqual([undefined, undefined]);
  work(30);
  const turn = yieldToEventLoop();
  expect(turn).toBeInstanceOf(Promise);
  await turn;
});

test('the event loop counts as busy during work that never yields, and as idle 20 ms later', async () => {
  await nextTurn();
  expect(isEventLoopBusy()).toBe(false);
  await yieldToEventLoop();
  work(25);
  expect(isEventLoopBusy()).toBe(true);
  await yieldToEventLoop();
  expect(isEventLoopBusy()).toBe(true);
  await nextTurn();
  now += 20;
  expect(isEventLoopBusy()).toBe(false);
});

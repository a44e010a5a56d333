import { expect, test } from 'vitest';
import { isEventLoopBusy, yieldToEventLoop } from '../../src/core/event-loop.ts';
import { longestPiece } from '../support/event-loop-pieces.ts';
import { until } from '../support/until.ts';

/** Nothing else happens meanwhile. */
function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('thousands that go on at the same time let others in between, and go on in their order', async () => {
  const order: number[] = [];
  /** The first step of all takes a slice: nobody goes on before a turn. */
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
  const piece = await longestPiece(() => Promise.all(Array.from({ length: count }, (_, i) => steps(i))));
  expect(piece).toBeLessThan(50);
  expect(order).toHaveLength(count);
  expect(order.slice(1000)).toEqual(order.slice(1000).toSorted((a, b) => a - b));
});

test('who was not kept waiting for long waits for nothing', async () => {
  await new Promise(setImmediate);
  expect([yieldToEventLoop(), yieldToEventLoop()]).toEqual([undefined, undefined]);
  work(30);
  const turn = yieldToEventLoop();
  expect(turn).toBeInstanceOf(Promise);
  await turn;
});

test('the event loop is busy while work that never waits goes on, and idle soon after', async () => {
  const isIdle = () => !isEventLoopBusy();
  await until('it is idle', isIdle);
  await yieldToEventLoop();
  work(25);
  expect(isEventLoopBusy()).toBe(true);
  await yieldToEventLoop();
  await until('it is idle again', isIdle);
});

import { expect, test } from 'vitest';
import { EventQueue } from '../../src/core/event-queue.ts';

test('a slow reader of an event queue gets all events, then the error', async () => {
  const queue = new EventQueue<number>();
  queue.push(1);
  queue.push(2);
  queue.fail(new Error('boom'));
  const seen: number[] = [];
  const reading = (async () => {
    for await (const item of queue) seen.push(item);
  })();
  await expect(reading).rejects.toThrow('boom');
  expect(seen).toEqual([1, 2]);
});

test('events are not buffered for a reader that has left', async () => {
  const queue = new EventQueue<number>();
  for (let n = 0; n < 10; n++) queue.push(n);
  for await (const _ of queue) break;
  for (let n = 0; n < 100_000; n++) queue.push(n);
  expect(queue.length).toBe(0);
});

test('events that a source adds after the end are ignored', async () => {
  const queue = new EventQueue<number>();
  queue.push(1);
  queue.fail(new Error('given up'));
  const seen: number[] = [];
  const reading = (async () => {
    for await (const item of queue) {
      seen.push(item);
      // As fast as it is read: a reader that waited for an empty queue would never come to the end.
      for (let n = 0; n < 1000; n++) queue.push(n);
      if (seen.length > 10) break;
    }
  })();
  await expect(reading).rejects.toThrow('given up');
  expect(seen).toEqual([1]);
  expect(queue.length).toBe(0);
});

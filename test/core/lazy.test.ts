import { expect, test } from 'vitest';
import { lazy } from '../../src/core/lifecycle.ts';

test('a lazy value is created once, on first use, even by concurrent callers', async () => {
  let times = 0;
  const get = lazy(async () => ++times);
  expect([times, get.made]).toEqual([0, undefined]);
  expect(await Promise.all([get(), get()])).toEqual([1, 1]);
  expect(await get()).toBe(1);
  expect(await get.made).toBe(1);
});

test('a failing lazy value rejects all pending calls, and the next call tries again', async () => {
  let times = 0;
  const get = lazy(async () => {
    times += 1;
    if (times === 1) throw new Error('not yet');
    return times;
  });
  const answers = await Promise.allSettled([get(), get()]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(get.made).toBeUndefined();
  expect(await get()).toBe(2);
});

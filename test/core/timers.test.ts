import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Latch } from '../../src/core/latch.ts';
import { after, every, sleep, timeoutSignal, unlessAborted } from '../../src/core/timers.ts';

const DAY_MS = 86_400_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Tells whether the promise has resolved. */
function watched(promise: Promise<unknown>): () => boolean {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  return () => done;
}

test.each([
  ['a second', 1000],
  ['the longest delay of Node', LONGEST_TIMER_MS],
  ['one millisecond more', LONGEST_TIMER_MS + 1],
  ['30 days', 30 * DAY_MS],
  ['a hundred years', 100 * 365 * DAY_MS],
])('a timer fires after %s and not before', (_what, ms) => {
  const callback = vi.fn();
  after(ms, callback);
  vi.advanceTimersByTime(ms - 1);
  expect(callback).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(callback).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});

test('no delay passed to Node exceeds 2^31 − 1 ms', () => {
  const delays = vi.spyOn(globalThis, 'setTimeout');
  const intervals = vi.spyOn(globalThis, 'setInterval');
  after(Number.POSITIVE_INFINITY, () => {});
  every(Number.POSITIVE_INFINITY, () => {});
  every(30 * DAY_MS, () => {});
  vi.advanceTimersByTime(300 * DAY_MS);
  const asked = [...delays.mock.calls, ...intervals.mock.calls].map(([, ms]) => ms as number);
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.filter((ms) => !(ms >= 1 && ms <= LONGEST_TIMER_MS))).toEqual([]);
});

test.each([Number.NaN, -1, Number.NEGATIVE_INFINITY, 0])('a delay of %s counts as 0', (ms) => {
  const callback = vi.fn();
  after(ms, callback);
  vi.advanceTimersByTime(1);
  expect(callback).toHaveBeenCalledOnce();
});

test('a timer delay with a fraction of a millisecond is rounded up', () => {
  const callback = vi.fn();
  after(1.2, callback);
  vi.advanceTimersByTime(1);
  expect(callback).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(callback).toHaveBeenCalledOnce();
});

test('a disposed timer does not fire, not even during a later part of its delay', () => {
  const callback = vi.fn();
  {
    using _short = after(10, callback);
    using _long = after(100 * DAY_MS, callback);
    using _again = every(60 * DAY_MS, callback);
    vi.advanceTimersByTime(9);
  }
  const late = after(100 * DAY_MS, callback);
  vi.advanceTimersByTime(50 * DAY_MS);
  late[Symbol.dispose]();
  vi.advanceTimersByTime(100 * DAY_MS);
  expect(callback).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ['every second', 1000],
  ['every 30 days', 30 * DAY_MS],
])('an interval timer repeats %s until it is disposed', (_what, ms) => {
  const callback = vi.fn();
  const timer = every(ms, callback);
  vi.advanceTimersByTime(ms - 1);
  expect(callback).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2 * ms + 1);
  expect(callback).toHaveBeenCalledTimes(3);
  timer[Symbol.dispose]();
  vi.advanceTimersByTime(2 * ms);
  expect(callback).toHaveBeenCalledTimes(3);
});

test('sleep resolves after its time or when its signal aborts', async () => {
  const stop = new AbortController();
  const [slept, woken] = [watched(sleep(40 * DAY_MS)), watched(sleep(40 * DAY_MS, stop.signal))];
  await vi.advanceTimersByTimeAsync(30 * DAY_MS);
  stop.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect([slept(), woken()]).toEqual([false, true]);
  await vi.advanceTimersByTimeAsync(10 * DAY_MS);
  expect(slept()).toBe(true);
  await sleep(40 * DAY_MS, stop.signal);
  expect(vi.getTimerCount()).toBe(0);
});

test('timeoutSignal aborts after its timeout', () => {
  const signal = timeoutSignal(30 * DAY_MS);
  vi.advanceTimersByTime(30 * DAY_MS - 1);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('a latch waits for 30 days', async () => {
  const latch = new Latch();
  const waited = watched(latch.wait(30 * DAY_MS));
  await vi.advanceTimersByTimeAsync(30 * DAY_MS - 1);
  expect(waited()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(waited()).toBe(true);
});

test('an unreferenced timer is unreferenced in every part of its delay', () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  using _timer = after(60 * DAY_MS, () => {}).unref();
  vi.advanceTimersByTime(50 * DAY_MS);
  const made = timers.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef());
  expect(made).toEqual([false, false, false]);
});

test('unlessAborted settles like its work, or rejects with the reason as soon as the signal aborts', async () => {
  const control = new AbortController();
  const never = unlessAborted(control.signal, new Promise(() => {}));
  expect(await unlessAborted(control.signal, Promise.resolve(7))).toBe(7);
  await expect(unlessAborted(control.signal, Promise.reject(new Error('broken')))).rejects.toThrow('broken');

  control.abort(new Error('enough'));
  await expect(never).rejects.toThrow('enough');
  await expect(unlessAborted(control.signal, Promise.resolve(7))).rejects.toThrow('enough');
});

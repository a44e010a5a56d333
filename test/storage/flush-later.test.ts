import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { flushLater } from '../../src/storage/runs/flush-later.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Names of the attempts that were flushed, in order; `add` adds one, of a graph host that is busy by default. */
function attempts(isFull: () => boolean = () => true) {
  const flushed: string[] = [];
  const add = (name: string, executes: 'in a host' | 'here' = 'in a host') => {
    const isHostBusy = () => (executes === 'here' ? undefined : true);
    return flushLater(() => flushed.push(name), { isHostBusy, isFull });
  };
  return { flushed, add };
}

test('attempts of hosts that have waited for half of the interval are flushed together with a due one', () => {
  const { flushed, add } = attempts();

  using _due = add('due');
  vi.advanceTimersByTime(4);
  using _waited = add('has waited');
  vi.advanceTimersByTime(3);
  using _new = add('new');
  vi.advanceTimersByTime(3);
  expect(flushed).toEqual(['due', 'has waited']);

  vi.advanceTimersByTime(6);
  expect(flushed).toEqual(['due', 'has waited']);
  vi.advanceTimersByTime(1);
  expect(flushed).toEqual(['due', 'has waited', 'new']);
});

test('an attempt whose graph executes in this process is flushed only when it is due', () => {
  const { flushed, add } = attempts();

  using _due = add('due');
  vi.advanceTimersByTime(4);
  using _here = add('here', 'here');
  vi.advanceTimersByTime(6);
  expect(flushed).toEqual(['due']);

  vi.advanceTimersByTime(4);
  expect(flushed).toEqual(['due', 'here']);
});

test('an attempt does not flush others before it is due itself', () => {
  const { flushed, add } = attempts();

  const ended = add('has ended');
  vi.advanceTimersByTime(4);
  using _other = add('other');
  ended[Symbol.dispose]();
  vi.advanceTimersByTime(9);
  expect(flushed).toEqual([]);

  vi.advanceTimersByTime(1);
  expect(flushed).toEqual(['other']);
});

test('one timer serves all attempts, and it is removed with the last one', () => {
  const { add } = attempts();

  const all = [add('a'), add('b'), add('c')];
  expect(vi.getTimerCount()).toBe(1);

  for (const each of all) each[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
});

test('a large batch waits only for the short interval, even if the host is busy', () => {
  let isFull = false;
  const { flushed, add } = attempts(() => isFull);

  using _ = add('much');
  vi.advanceTimersByTime(15);
  expect(flushed).toEqual([]);

  isFull = true;
  vi.advanceTimersByTime(5);
  expect(flushed).toEqual(['much']);
});

test('a timer that is late flushes only what is due', () => {
  const { flushed, add } = attempts();

  using _due = add('due');
  vi.advanceTimersByTime(4);
  using _waited = add('has waited');
  const late = performance.now() + 9;
  vi.spyOn(performance, 'now').mockImplementation(() => late);
  vi.advanceTimersByTime(6);
  expect(flushed).toEqual(['due']);
});

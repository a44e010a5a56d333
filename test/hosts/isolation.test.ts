import { expect, test } from 'vitest';
import { silentLogger } from '../../src/core/logger.ts';
import type { Host } from '../../src/hosts/pool/host.ts';
import { Isolation } from '../../src/hosts/pool/isolation.ts';

/** Hosts that are ready at once, and how many of them run. */
function isolation(spawn?: () => Host) {
  const live = new Set<number>();
  let number = 0;
  const start = () => {
    const own = ++number;
    live.add(own);
    return {
      number: own,
      ready: Promise.resolve(),
      ended: new Promise(() => {}),
      stop: async () => void live.delete(own),
    } as unknown as Host;
  };
  const isolated = new Isolation(spawn ?? start, silentLogger);
  return { isolated, live };
}

const never = new AbortController().signal;

test('a run that lost one host shares the next; one that lost two gets a host of its own, which ends with it', async () => {
  const { isolated, live } = isolation();

  expect(await isolated.enter('never', 0, never)).toBeUndefined();
  expect(await isolated.enter('once', 1, never)).toBeUndefined();
  const own = await isolated.enter('twice', 2, never);
  expect(live.size).toBe(1);
  await own?.[Symbol.asyncDispose]();
  expect(live.size).toBe(0);
});

test('runs that need a host of their own get it one after the other; one that is cancelled meanwhile holds up none', async () => {
  const { isolated, live } = isolation();
  const cancel = new AbortController();
  const first = await isolated.enter('a', 2, never);
  const second = isolated.enter('b', 2, cancel.signal);
  const third = isolated.enter('c', 2, never);

  expect(['a', 'b', 'c'].map((run_id) => isolated.isWaiting(run_id))).toEqual([false, true, true]);

  cancel.abort(new Error('cancelled'));
  await expect(second).rejects.toThrow('cancelled');
  expect([...live]).toEqual([1]);
  await first?.[Symbol.asyncDispose]();
  const own = await third;
  expect(own?.host.number).toBe(2);
  expect([...live]).toEqual([2]);
  expect(['b', 'c'].map((run_id) => isolated.isWaiting(run_id))).toEqual([false, false]);
});

test('a run shares a host again if none of its own can be started, and the next one gets its turn', async () => {
  let isBroken = true;
  const { isolated } = isolation(() => {
    if (isBroken) throw new Error('no process can be started');
    return {
      ready: Promise.resolve(),
      ended: new Promise(() => {}),
      stop: async () => {},
    } as unknown as Host;
  });

  expect(await isolated.enter('a', 2, never)).toBeUndefined();
  isBroken = false;
  expect(await isolated.enter('a', 2, never)).toBeDefined();
});

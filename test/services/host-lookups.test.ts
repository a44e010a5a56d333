import { expect, test } from 'vitest';
import { oneLookupAtATime } from '../../src/services/webhooks/host-lookups.ts';
import { policy } from '../support/webhook-policy.ts';

const LONG_MS = 60_000;

/** A name service that answers when it is told to, and at which time. */
function nameService() {
  const asked: string[] = [];
  const open = new Map<string, PromiseWithResolvers<readonly string[]>>();
  let now_ms = 0;
  const resolve = oneLookupAtATime(
    (hostname) => {
      asked.push(hostname);
      const answer = Promise.withResolvers<readonly string[]>();
      open.set(hostname, answer);
      return answer.promise;
    },
    { now: () => 0, monotonic: () => now_ms },
  );
  return {
    resolve,
    asked,
    open,
    pass(ms: number) {
      now_ms += ms;
    },
    answer(hostname: string, address = '93.184.216.34') {
      open.get(hostname)?.resolve([address]);
      open.delete(hostname);
    },
    fail(hostname: string, code: string) {
      open.get(hostname)?.reject(Object.assign(new Error(code), { code }));
      open.delete(hostname);
    },
  };
}

test('checks of names that never resolve occupy one lookup, and those that gave up never begin', async () => {
  const names = nameService();
  const { check } = policy({}, names.resolve);
  await Promise.all(Array.from({ length: 20 }, (_, i) => check(`https://${i}.evil.example/`)));
  expect(names.asked).toEqual(['0.evil.example']);

  const next = names.resolve('good.test', LONG_MS);
  names.fail('0.evil.example', 'EAI_AGAIN');
  await expect.poll(() => names.asked).toEqual(['0.evil.example', 'good.test']);
  names.answer('good.test');
  expect(await next).toEqual(['93.184.216.34']);
  expect(names.asked).toHaveLength(2);
});

test('a caller whose time ends gets ETIMEOUT, whether its lookup has begun or not', async () => {
  const names = nameService();
  const begun = names.resolve('a.example', 1);
  const waiting = names.resolve('b.example', 1);
  await expect(begun).rejects.toMatchObject({ code: 'ETIMEOUT' });
  await expect(waiting).rejects.toMatchObject({ code: 'ETIMEOUT' });
});

test('after a slow name, all other names are looked up before the next one of its domain', async () => {
  const names = nameService();
  const evil = [1, 2].map((n) => names.resolve(`${n}.evil.example`, LONG_MS));
  names.pass(10_000);
  names.answer('1.evil.example');
  await evil[0];
  const more = ['3.evil.example', 'a.good.test', 'b.good.test'].map((name) => names.resolve(name, LONG_MS));
  expect(names.asked).toEqual(['1.evil.example', '2.evil.example']);

  names.pass(10_000);
  for (const name of ['2.evil.example', 'a.good.test', 'b.good.test', '3.evil.example']) {
    await expect.poll(() => names.asked.at(-1)).toBe(name);
    names.answer(name);
  }
  await Promise.all([...evil, ...more]);
});

test('callers of one name share a lookup, and its result for half a minute', async () => {
  const names = nameService();
  const both = [names.resolve('good.test', LONG_MS), names.resolve('good.test', LONG_MS)];
  names.answer('good.test');
  expect(await Promise.all(both)).toEqual([['93.184.216.34'], ['93.184.216.34']]);

  names.pass(29_999);
  const slow = names.resolve('slow.example', LONG_MS);
  expect(await names.resolve('good.test', LONG_MS)).toEqual(['93.184.216.34']);
  names.answer('slow.example');
  await slow;

  names.pass(1);
  const moved = names.resolve('good.test', LONG_MS);
  names.answer('good.test', '93.184.216.35');
  expect(await moved).toEqual(['93.184.216.35']);
  expect(names.asked).toEqual(['good.test', 'slow.example', 'good.test']);
});

test('a failed lookup is passed on and not cached', async () => {
  const names = nameService();
  const missing = names.resolve('new.example', LONG_MS);
  names.fail('new.example', 'ENOTFOUND');
  await expect(missing).rejects.toMatchObject({ code: 'ENOTFOUND' });
  const found = names.resolve('new.example', LONG_MS);
  names.answer('new.example');
  expect(await found).toEqual(['93.184.216.34']);
});

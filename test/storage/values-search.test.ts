import { expect, test } from 'vitest';
import { toJson } from '../../src/core/json.ts';
import { ThreadSearch } from '../../src/schemas/threads.ts';
import type { ValuePath } from '../../src/storage/threads/extract.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { ELIDED, serializeState } from '../../src/storage/threads/values-summary.ts';
import { contains } from '../support/contains.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { RandomJson } from '../support/random-json.ts';
import { at, foundThreads, freshThread, newState, threadId } from '../support/stored-threads.ts';

const LONG = 'long'.repeat(100);

describeEachDatabase('values of threads', (open) => {
  test('are found by any part of them, short or long', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    const random = new RandomJson(7);
    const states = Array.from({ length: 120 }, (_, n) => ({
      ...random.object(),
      ...(n % 3 === 0 && { a: { long: LONG, more: random.value(2) } }),
      ...(n % 20 === 0 && { b: ELIDED }),
    }));
    for (const [n, state] of states.entries()) {
      await threads.insert(freshThread(n));
      await threads.setState(threadId(n), newState(state), at(1000 + n));
    }
    const questions = [
      {},
      { b: ELIDED },
      { a: { long: LONG } },
      { a: {} },
      ...Array.from({ length: 60 }, () => random.partOfObject(random.one(states))),
    ];
    for (const wanted of questions) {
      const stored = JSON.parse(toJson(wanted));
      const expected = states.flatMap((state, n) => (contains(JSON.parse(toJson(state)), stored) ? [n] : []));
      const query = { ...ThreadSearch.parse({ limit: 1000, sort_order: 'asc' }), values: wanted };
      const found = await threads.search(query);
      expect(
        found.map(({ thread_id }) => Number(thread_id.slice(-12))),
        toJson(wanted),
      ).toEqual(expected);
      expect(await threads.count({ values: wanted })).toBe(expected.length);
    }
  });

  test('are read in part, at any depth', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    const state = {
      short: { list: [1, [2, 3]], '0': 'zero' },
      log: Array.from({ length: 100 }, (_, n) => ({ n })),
      large: ELIDED,
      'odd "key\\': { ü$: true },
      nothing: null,
    };
    await threads.insert(freshThread(1));
    await threads.setState(threadId(1), newState(state), at(1));
    await threads.insert(freshThread(2));
    await threads.setState(threadId(2), newState(['a', 'list']), at(2));
    const read = async (n: number, path: ValuePath) => {
      const query = {
        ...ThreadSearch.parse({ ids: [threadId(n)], select: ['thread_id'] }),
        parts: { it: path },
      };
      return (await threads.search(query))[0]?.parts?.['it'];
    };
    for (const [path, expected] of [
      [['short'], state.short],
      [['short', 'list', 1, -1], 3],
      [['short', 'list', '0'], null],
      [['short', 0], null],
      [['short', '0'], 'zero'],
      [['log', -1, 'n'], 99],
      [['log', 100], null],
      [['log', -101], null],
      [['log', 0], { n: 0 }],
      [['large'], ELIDED],
      [['large', 'x'], null],
      [['odd "key\\', 'ü$'], true],
      [['nothing'], null],
      [['nothing', 'x'], null],
      [['missing', 'x'], null],
      [[0], null],
    ] as const) {
      expect(await read(1, path), path.join('/')).toEqual(expected);
    }
    expect(await read(2, [1])).toBe('list');
    expect(await read(2, ['1'])).toBeNull();
  });

  test('are no longer found by their previous values', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1));
    await threads.setState(threadId(1), newState({ topic: 'fish', log: LONG }), at(1));
    await threads.setState(threadId(1), newState({ topic: 'meat', log: [LONG] }), at(2));
    expect(await foundThreads(threads, { values: { topic: 'fish' } })).toEqual([]);
    expect(await foundThreads(threads, { values: { log: LONG } })).toEqual([]);
    expect(await foundThreads(threads, { values: { topic: 'meat', log: [LONG] } })).toEqual([1]);
  });
});

test('the values of a thread are stored as JSON, with a short summary', () => {
  const state = { a: undefined, b: 'NUL \0', c: LONG, d: [1], e: { toJSON: () => 'x' } };
  const { text, summary } = serializeState(state);
  expect(text).toBe(toJson(state));
  expect(JSON.parse(summary)).toEqual({ b: 'NUL \uFFFD', c: ELIDED, d: [1], e: 'x' });
  expect(serializeState(undefined)).toEqual({ text: 'null', summary: '{}' });
  const wide = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key${n}`, 'x'.repeat(90)]));
  expect(serializeState(wide).summary.length).toBeLessThan(5000);
});
